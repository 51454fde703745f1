//! Requests to several shards at once, each within a deadline.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use futures_util::future::join_all;
use keyed_service::statement::{Argument, Statement, flag, text};
use tokio::time::timeout;
use tokio_postgres::Row;

use super::choice::Lead;
use super::set::{Node, Shards};
use crate::body::JsonText;
use crate::caller::{Caller, PROJECT, credentials};
use crate::database::Effect;
use crate::observation::Observation;
use crate::problem::Problem;
use crate::shard::Shard;

/// What a shard is asked.
pub(super) struct Question {
    pub(super) effect: Effect,
    pub(super) statement: Statement,
    pub(super) value: Value,
}

/// The argument of a question.
pub(super) enum Value {
    None,
    Flag(bool),
    Text(String),
}

impl Value {
    fn arguments(&self) -> Vec<Argument<'_>> {
        match self {
            Value::None => Vec::new(),
            Value::Flag(value) => vec![flag(value)],
            Value::Text(value) => vec![text(value)],
        }
    }
}

/// The responses of shards, by what became of each.
#[derive(Default)]
pub(super) struct Replies {
    /// The shard of the project that the request names.
    pub(super) project: Option<Shard>,
    pub(super) rows: Vec<(Shard, Row)>,
    pub(super) rejections: Vec<(Shard, Problem)>,
    /// They do not know the key.
    pub(super) strangers: Vec<Shard>,
    /// They did not respond, or cannot be used.
    pub(super) unavailable: Vec<Shard>,
    /// The response of the shard that issued the key, if it does not know it.
    invalid_key: Option<Problem>,
    cause: String,
}

impl Replies {
    fn add(&mut self, shard: Shard, is_home: bool, outcome: Result<Row, Problem>) {
        match outcome {
            Ok(row) => self.rows.push((shard, row)),
            Err(problem) if problem.is_unauthorized() => {
                self.strangers.push(shard);
                if is_home {
                    self.invalid_key = Some(problem);
                }
            }
            Err(problem) if matches!(problem.status().as_u16(), 503 | 504) => {
                self.unavailable.push(shard);
                self.cause = format!("shard {shard}: {}", problem.cause().unwrap_or(problem.detail()));
            }
            Err(problem) => self.rejections.push((shard, problem)),
        }
    }

    /// Fails if a shard rejected the request, or none answered it.
    pub(super) fn require_rows(&mut self) -> Result<(), Problem> {
        if !self.rejections.is_empty() {
            return Err(self.rejections.swap_remove(0).1);
        }
        if !self.rows.is_empty() {
            return Ok(());
        }
        match self.invalid_key.take() {
            Some(problem) if self.unavailable.is_empty() => Err(problem),
            _ if self.unavailable.is_empty() => Err(Problem::invalid_key()),
            _ => Err(Problem::unavailable_shards(self.unavailable.clone(), self.cause.clone())),
        }
    }
}

impl Shards {
    /// Asks these shards in the name of the caller, as far as they know its key. The project that the request names is a condition
    /// for its own shard only.
    pub(super) async fn ask(
        &self,
        nodes: impl IntoIterator<Item = &Node>,
        parts: &Parts,
        question: impl Fn(Shard) -> Question,
    ) -> Result<Replies, Problem> {
        let home = self.home(&parts.headers);
        let Some((token, project)) = credentials(&parts.headers) else {
            // It is rejected for what is wrong with its headers.
            Caller::from_request_parts(&mut parts.clone(), &home.app).await?;
            return Err(Problem::no_token());
        };
        let project = match project {
            Some(project) => match self.lead_of_project(project).await {
                Lead::To(node) => Some(node.shard),
                // It rejects the request.
                Lead::Nowhere => Some(home.shard),
                Lead::Stop(problem) => return Err(problem),
            },
            None => None,
        };
        let asked = nodes.into_iter().map(|node| {
            let (question, is_home) = (question(node.shard), node.shard == home.shard);
            async move {
                let run = async {
                    if !self.accepts(node, home, parts, token).await {
                        return Err(Problem::invalid_key());
                    }
                    let mut own = parts.clone();
                    if project != Some(node.shard) {
                        own.headers.remove(PROJECT);
                    }
                    if !is_home && let Some(observation) = Observation::find(&parts.extensions) {
                        own.extensions.insert(observation.aside());
                    }
                    let caller = Caller::from_request_parts(&mut own, &node.app).await?;
                    let arguments = question.value.arguments();
                    node.app.database.call(question.effect, &caller, question.statement, &arguments).await
                };
                let late =
                    || Problem::unavailable("no response", "no response within the deadline".to_owned());
                let outcome = timeout(self.deadline, run).await.unwrap_or_else(|_| Err(late()));
                (node.shard, is_home, outcome)
            }
        });
        let mut replies = Replies { project, ..Replies::default() };
        for (shard, is_home, outcome) in join_all(asked).await {
            replies.add(shard, is_home, outcome);
        }
        Ok(replies)
    }

    /// Reads the body of a request for several shards, within the limits of the first that can check its key.
    pub(super) async fn read_body(&self, parts: &Parts, body: Body) -> Result<String, Problem> {
        let home = self.home(&parts.headers);
        let others = self.nodes.iter().filter(|node| node.shard != home.shard);
        let mut failed = None;
        for node in std::iter::once(home).chain(others) {
            let mut own = parts.clone();
            match Caller::from_request_parts(&mut own, &node.app).await {
                Ok(_caller) => {
                    let request = Request::from_parts(own, body);
                    return JsonText::from_request(request, &Arc::clone(&node.app))
                        .await
                        .map(|JsonText(text)| text);
                }
                Err(problem) if problem.status().as_u16() == 503 => {
                    failed.get_or_insert(problem.of_shard(node.shard));
                }
                // The others say only that they do not know it.
                Err(_) if node.shard != home.shard => {}
                Err(problem) => return Err(problem),
            }
        }
        Err(failed.unwrap_or_else(Problem::invalid_key))
    }
}
