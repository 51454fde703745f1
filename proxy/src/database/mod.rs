//! One statement per request, so one round trip and one implicit transaction; retried if that is safe and useful.

/// One attempt of a statement.
mod attempt;
/// The effect of a statement.
mod effect;
/// Errors of the database.
mod failure;
/// Whether requests may use the database.
mod gate;
/// Connections whose request was dropped.
mod lease;
/// Connections that are not used again.
mod pools;
/// Connections after a change of the URL.
mod renewal;
/// Replicas, which answer reads.
pub mod replica;
/// The connections to one server.
mod server;
/// Connections that short reads share.
mod shared;
/// What the observation of a request learns.
mod trace;
/// Several statements in one transaction.
pub(crate) mod transaction;
/// The validity of connections.
mod trust;
/// Numbers of versions.
pub(crate) mod version;
/// Statements of workers.
mod worker;

use std::borrow::Cow;
use std::sync::Arc;

pub(crate) use effect::Effect;
use replica::Replicas;
use server::{Execution, Server};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::admission::{Admitted, Pulse};
use crate::caller::Caller;
use crate::metrics::Metrics;
use crate::position::Freshness;
use crate::problem::Problem;
use crate::settings::Settings;
use keyed_service::statement::{Argument, FIRST, Source, Statement, text};
use keyed_service::tls::database::Connector;

/// The connections to the database: those to the primary, and those to replicas.
pub struct Database {
    primary: Server,
    replicas: Option<Replicas>,
}

impl Database {
    /// Opens no connection yet, so the service starts whether the database answers or not.
    pub(crate) fn new(
        settings: &Settings,
        connector: &Connector,
        size: usize,
        metrics: &Arc<Metrics>,
    ) -> anyhow::Result<Database> {
        let has_replicas = !settings.replicas().map_err(anyhow::Error::msg)?.is_empty();
        let primary = Server::primary(settings, connector, size, metrics, has_replicas)?;
        let replicas = Replicas::new(settings, metrics, primary.beside(settings)?)?;
        Ok(Database { primary, replicas })
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.primary.metrics
    }

    /// The replicas, if there are any.
    pub fn replicas(&self) -> Option<&Replicas> {
        self.replicas.as_ref()
    }

    /// Sets the metrics of connections.
    pub(crate) fn measure(&self) {
        self.primary.measure();
    }

    /// Runs a statement in the name of a caller: `$1` and `$2` are the caller's, `$3` is the request's, the arguments follow.
    pub(crate) async fn call(
        &self,
        effect: Effect,
        caller: &Caller,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        let digest = caller.token_digest.as_slice();
        let request = caller.request();
        let mut all = in_the_name_of(&digest, caller, &request, arguments);
        let function = statement.function();
        let is_write = effect == Effect::Write;
        let Some(idempotency) = caller.idempotency.as_ref().filter(|_| is_write) else {
            // Reads leave no history, so they have one prepared statement for all sources.
            let source = if is_write { caller.source } else { Source::Api };
            let statement = statement.plain(source);
            return self
                .run_at(caller.freshness, caller.admitted.as_ref(), effect, function, statement, &all)
                .await;
        };
        // Repeated requests have other ids.
        let fingerprint = idempotency.content(all[1..2].iter().chain(arguments))?.fingerprint().await;
        let fingerprint = fingerprint.as_slice();
        let statement = statement.once(all.len(), caller.source);
        all.push(text(&idempotency.key));
        all.push((&fingerprint, Type::BYTEA));
        self.run_for(caller.admitted.as_ref(), Effect::WriteOnce, function, &statement, &all).await
    }

    /// The maximum number of unshared connections to the primary.
    pub(crate) fn connections(&self) -> usize {
        self.primary.connections()
    }

    /// The time of the last response of the primary.
    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.primary.pulse
    }

    /// Answers every request with this problem, or no longer with any.
    pub(crate) fn refuse(&self, reason: Option<Problem>) {
        self.primary.gate.set(reason);
    }

    /// Runs a statement that answers one row on the primary, for the service itself.
    pub(crate) async fn run(
        &self,
        effect: Effect,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        self.run_for(None, effect, "", statement, arguments).await
    }

    /// The same, on a replica while the primary does not respond.
    pub(crate) async fn run_somewhere(
        &self,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        if let Some(replicas) = self.replicas.as_ref().filter(|replicas| replicas.is_primary_silent()) {
            let deadline = Instant::now() + self.primary.patience();
            let effect = Effect::Lookup;
            let read = Execution { admitted: None, effect, function: "", statement, arguments, deadline };
            if let Some(answer) = replicas.read(&read, Freshness::default()).await {
                return answer;
            }
        }
        self.run(Effect::Lookup, statement, arguments).await
    }

    /// Runs a statement on the primary that returns one row, within the limits of the client. `function` is what it calls.
    pub(crate) async fn run_for(
        &self,
        admitted: Option<&Admitted>,
        effect: Effect,
        function: &'static str,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        let there = Freshness { primary: true, position: None };
        self.run_at(there, admitted, effect, function, statement, arguments).await
    }

    /// Runs a statement on a server that is fresh enough.
    async fn run_at(
        &self,
        freshness: Freshness,
        admitted: Option<&Admitted>,
        effect: Effect,
        function: &'static str,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        // Whatever is waited for, and however often it is tried, this is the end.
        let deadline = Instant::now() + self.primary.patience();
        let read = Execution { admitted, effect, function, statement, arguments, deadline };
        if let Some(replicas) = self.replicas.as_ref().filter(|_| effect.is_for_replicas()) {
            if let Some(problem) = self.primary.gate.refusal() {
                return Err(problem);
            }
            if let Some(answer) = replicas.read(&read, freshness).await {
                return answer;
            }
        }
        let outcome = self.primary.run(read).await;
        if let (Err(problem), Some(admitted)) = (&outcome, admitted) {
            admitted.recheck_key_if_denied(problem);
        }
        outcome
    }
}

/// The arguments of a statement, after those that say who asks, and in which request.
fn in_the_name_of<'a>(
    digest: &'a &'a [u8],
    caller: &'a Caller,
    request: &'a Cow<'a, str>,
    arguments: &[Argument<'a>],
) -> Vec<Argument<'a>> {
    let mut all: Vec<Argument<'a>> = Vec::with_capacity(FIRST + arguments.len());
    all.push((digest, Type::BYTEA));
    all.push(text(&caller.project));
    all.push(text(request));
    all.extend_from_slice(arguments);
    all
}
