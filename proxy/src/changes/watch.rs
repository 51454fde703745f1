//! Polls projects for new changes: one task per project for all its waiting callers, and none without such callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use keyed_service::statement::text;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::database::Database;
use crate::database::Effect::Read;

/// The position of the last final change.
const HORIZON: &str = "select keyed_http.change_horizon($1::text)";

/// The pause between two statements.
const PAUSE: Duration = Duration::from_millis(50);

/// The pause after a statement that failed.
const RETRY: Duration = Duration::from_secs(1);

/// The watched projects.
pub(super) struct Watches {
    database: Arc<Database>,
    projects: Mutex<HashMap<String, Weak<Project>>>,
}

/// A watched project. Polling stops when this is dropped.
struct Project {
    generations: Arc<watch::Sender<u64>>,
    task: JoinHandle<()>,
}

impl Drop for Project {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A subscription to a project.
pub(super) struct Watch {
    generations: watch::Receiver<u64>,
    _project: Arc<Project>,
}

impl Watches {
    pub(super) fn new(database: Arc<Database>) -> Watches {
        Watches { database, projects: Mutex::default() }
    }

    /// Watches a project, by slug or id.
    pub(super) fn watch(&self, name: &str) -> Watch {
        // Nothing that can panic half-way runs under the lock.
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let project = projects.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
            projects.retain(|_, project| project.strong_count() > 0);
            let generations = Arc::new(watch::Sender::new(0));
            let task =
                tokio::spawn(probe(Arc::clone(&self.database), name.to_owned(), Arc::clone(&generations)));
            let project = Arc::new(Project { generations, task });
            projects.insert(name.to_owned(), Arc::downgrade(&project));
            project
        });
        Watch { generations: project.generations.subscribe(), _project: project }
    }
}

impl Watch {
    /// The current generation. Statements that start from now on see the changes that started it.
    pub(super) fn generation(&self) -> u64 {
        *self.generations.borrow()
    }

    /// Waits until there may be changes after this generation.
    pub(super) async fn moved(&mut self, generation: u64) {
        // The sender outlives this subscription.
        let _ = self.generations.wait_for(|present| *present != generation).await;
    }
}

/// Starts a new generation whenever the project has new changes.
async fn probe(database: Arc<Database>, project: String, generations: Arc<watch::Sender<u64>>) {
    let mut known: Option<Option<String>> = None;
    loop {
        let seen = database.run(Read, HORIZON, &[text(&project)]).await.map(|row| row.try_get(0));
        let pause = match seen {
            Ok(Ok(horizon)) => {
                if known.as_ref() != Some(&horizon) {
                    known = Some(horizon);
                    generations.send_modify(|generation| *generation += 1);
                }
                PAUSE
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the change horizon");
                RETRY
            }
            Err(problem) => {
                tracing::debug!(cause = problem.cause(), "cannot query the change horizon");
                RETRY
            }
        };
        sleep(pause).await;
    }
}
