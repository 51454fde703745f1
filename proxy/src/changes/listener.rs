//! A caller that waits for changes.

use std::sync::Arc;

use keyed_errors::Code;

use super::page::{Feed, Group, Page, Pages};
use super::tail::{Tail, Tails};
use super::watch::{Watch, Watches};
use crate::admission::Admitted;
use crate::caller::Caller;
use crate::database::Database;
use crate::metrics::{Listening, Metrics};
use crate::problem::Problem;

/// The shared state of waiting callers.
pub(crate) struct Changes {
    pages: Arc<Pages>,
    watches: Watches,
    tails: Tails,
    metrics: Arc<Metrics>,
}

impl Changes {
    /// Creates the state without watching any project.
    pub(crate) fn new(database: &Arc<Database>) -> Changes {
        Changes {
            pages: Arc::new(Pages::new(Arc::clone(database))),
            watches: Watches::new(Arc::clone(database)),
            tails: Tails::default(),
            metrics: Arc::clone(database.metrics()),
        }
    }
}

/// A waiting caller.
pub(crate) struct Listener {
    changes: Arc<Changes>,
    caller: Arc<Caller>,
    feed: Feed,
    project: String,
    watch: Watch,
    _listening: Listening,
}

impl Listener {
    /// Registers a waiting caller.
    pub(crate) fn new(changes: &Arc<Changes>, mut caller: Caller, feed: Feed) -> Result<Listener, Problem> {
        // A read is safe to repeat.
        caller.idempotency = None;
        let of_key = || caller.admitted.as_ref().and_then(Admitted::project_of_key);
        let Some(project) = caller.project.clone().or_else(of_key) else {
            let problem =
                Problem::new(Code::ProjectRequired, "the request does not specify a project to wait for");
            return Err(problem.with_hint("Send the header X-Service-Project-Id."));
        };
        if let Some(admitted) = &caller.admitted {
            admitted.listen()?;
        }
        Ok(Listener {
            watch: changes.watches.watch(&project),
            _listening: Listening::new(&changes.metrics),
            changes: Arc::clone(changes),
            caller: Arc::new(caller),
            feed,
            project,
        })
    }

    /// The caller.
    pub(super) fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// The current generation of the project.
    pub(super) fn generation(&self) -> u64 {
        self.watch.generation()
    }

    /// Waits until the project may have changes after this generation.
    pub(super) async fn moved(&mut self, generation: u64) {
        self.watch.moved(generation).await;
    }

    /// Reads a page in this generation.
    pub(super) async fn page(&self, after: Option<&str>, generation: u64) -> Result<Arc<Page>, Problem> {
        self.changes.pages.read_shared(&self.caller, &self.feed, after, generation).await
    }

    /// The shared tail of the caller's group.
    pub(super) fn tail(&self) -> Arc<Tail> {
        let group = Group::of(&self.caller, &self.feed);
        let watch = || self.changes.watches.watch(&self.project);
        self.changes.tails.of(group, &self.changes.pages, &self.feed, watch)
    }
}
