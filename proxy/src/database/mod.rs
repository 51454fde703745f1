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
/// Connections that short reads share.
mod shared;
/// What the observation of a request learns.
mod trace;
/// Several statements in one transaction.
pub(crate) mod transaction;
/// The validity of connections.
mod trust;
/// Statements of workers.
mod worker;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant as StdInstant};

use deadpool_postgres::Pool;
pub(crate) use effect::Effect;
use failure::Failure;
use gate::Gate;
use lease::Lease;
use pools::Pools;
use shared::Shared;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use trace::Trace;
use trust::Trust;

use crate::admission::{Admitted, Pulse, ResponseKind};
use crate::caller::Caller;
use crate::metrics::{Metrics, StatementKind};
use crate::problem::Problem;
use crate::settings::Settings;
use keyed_service::statement::{Argument, FIRST, Source, Statement, text};
use keyed_service::tls::database::Connector;

/// The maximum number of attempts of a statement that conflicts with concurrent ones.
const TRIES: u64 = 3;

/// The connections to the database.
pub struct Database {
    pool: Pool,
    shared: Shared,
    pools: Pools,
    gate: Gate,
    connector: Connector,
    prepared: bool,
    answer_timeout: Duration,
    /// The number of unshared connections.
    connections: usize,
    metrics: Arc<Metrics>,
    pulse: Arc<Pulse>,
}

impl Database {
    /// Opens no connection yet, so the service starts whether the database answers or not.
    pub(crate) fn new(
        settings: &Settings,
        connector: &Connector,
        size: usize,
        metrics: &Arc<Metrics>,
    ) -> anyhow::Result<Database> {
        let pools = Pools::new(Trust::new(settings.connection_age));
        Database::with_pools(settings, connector, size, metrics, pools, Arc::new(Pulse::new()))
    }

    fn with_pools(
        settings: &Settings,
        connector: &Connector,
        size: usize,
        metrics: &Arc<Metrics>,
        pools: Pools,
        pulse: Arc<Pulse>,
    ) -> anyhow::Result<Database> {
        // One shared connection keeps a core of the server busy; four for each core is the default of all.
        let shared = size / 4;
        let pool = pools.open(settings, connector.clone(), size - shared)?;
        Ok(Database {
            pool,
            shared: Shared::new(shared, pools.trust.clone()),
            pools,
            gate: Gate::default(),
            connector: connector.clone(),
            prepared: settings.prepared_statements,
            answer_timeout: settings.request_timeout,
            connections: size - shared,
            metrics: Arc::clone(metrics),
            pulse,
        })
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Sets the metrics of connections.
    pub(crate) fn measure(&self) {
        let (status, shared) = (self.pool.status(), self.shared.status());
        let in_use = status.size.saturating_sub(status.available);
        let metrics = &self.metrics;
        for (state, count) in [("in_use", in_use), ("idle", status.available)] {
            metrics.pool_connections.with_label_values(&[state]).set(count as f64);
        }
        metrics.pool_limit.set(status.max_size as f64);
        metrics.pool_waiting.set(status.waiting as f64);
        for (state, count) in [("usable", shared.usable), ("stuck", shared.stuck)] {
            metrics.shared_connections.with_label_values(&[state]).set(count as f64);
        }
        metrics.shared_queue.set(shared.queue as f64);
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
        let Some(idempotency) = caller.idempotency.as_ref().filter(|_| effect == Effect::Write) else {
            // Reads leave no history, so they have one prepared statement for all sources.
            let source = if effect == Effect::Write { caller.source } else { Source::Api };
            let statement = statement.plain(source);
            return self.run_for(caller.admitted.as_ref(), effect, function, statement, &all).await;
        };
        // Repeated requests have other ids.
        let fingerprint = idempotency.content(all[1..2].iter().chain(arguments))?.fingerprint().await;
        let fingerprint = fingerprint.as_slice();
        let statement = statement.once(all.len(), caller.source);
        all.push(text(&idempotency.key));
        all.push((&fingerprint, Type::BYTEA));
        self.run_for(caller.admitted.as_ref(), Effect::WriteOnce, function, &statement, &all).await
    }

    /// The maximum number of unshared connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections
    }

    /// The time of the last response of the database.
    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.pulse
    }

    /// Answers every request with this problem, or no longer with any.
    pub(crate) fn refuse(&self, reason: Option<Problem>) {
        self.gate.set(reason);
    }

    fn trace<'a>(
        &'a self,
        admitted: Option<&'a Admitted>,
        kind: StatementKind,
        function: &'static str,
    ) -> Trace<'a> {
        Trace::new(&self.metrics, admitted, kind, function)
    }

    /// A connection for one caller.
    pub(crate) async fn lease(&self) -> Result<Lease<'_>, Failure> {
        if let Some(problem) = self.gate.refusal() {
            return Err(Failure::Refused(problem));
        }
        Ok(Lease::new(self.pool.get().await.map_err(Failure::NoConnection)?, &self.connector, &self.pools))
    }

    /// The timeout of a response.
    pub(crate) fn patience(&self) -> Duration {
        self.answer_timeout
    }

    /// Runs a statement that answers one row, for the service itself.
    pub(crate) async fn run(
        &self,
        effect: Effect,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        self.run_for(None, effect, "", statement, arguments).await
    }

    /// Runs a statement that returns one row, within the limits of the client. `function` is what it calls.
    pub(crate) async fn run_for(
        &self,
        admitted: Option<&Admitted>,
        effect: Effect,
        function: &'static str,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        let outcome = self.run_within(admitted, effect, function, statement, arguments).await;
        if let (Err(problem), Some(admitted)) = (&outcome, admitted) {
            admitted.recheck_key_if_denied(problem);
        }
        outcome
    }

    async fn run_within(
        &self,
        admitted: Option<&Admitted>,
        effect: Effect,
        function: &'static str,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        if let Some(problem) = self.gate.refusal() {
            return Err(problem);
        }
        let trace = self.trace(admitted, effect.into(), function);
        let kind = ResponseKind::from(effect);
        let receive = |row: Row| match admitted {
            Some(admitted) => admitted.receive(kind, row.raw_size_bytes()).map(|()| row),
            None => Ok(row),
        };
        // A large response would hold up those that share its connection.
        if effect == Effect::Lookup
            && admitted.is_none_or(|admitted| admitted.expects_small_response(kind))
            && let Some(answer) = self.try_shared(trace, statement, arguments).await
        {
            return answer.map_err(|failure| failure.into_problem(effect)).and_then(receive);
        }
        // Whatever is waited for, and however often it is tried, this is the end.
        let deadline = Instant::now() + self.answer_timeout;
        let mut waiting = StdInstant::now();
        let _share = match admitted {
            Some(admitted) => Some(admitted.acquire(kind).await?),
            None => None,
        };
        let mut tries = 1;
        loop {
            let attempt =
                self.try_once(effect, deadline, waiting, trace.attempt(tries), statement, arguments);
            match attempt.await {
                Ok(row) => return receive(row),
                // The pause is random, so that two conflicting requests do not conflict again.
                Err(failure) if failure.is_lost_race() && tries < TRIES => {
                    self.metrics.retried("conflict");
                    sleep(Duration::from_millis(fastrand::u64(1..=10 * tries))).await;
                }
                Err(failure) if failure.is_repeatable(effect) && tries == 1 => {
                    self.metrics.retried(if failure.is_read_only() {
                        "read_only"
                    } else {
                        "connection_lost"
                    });
                }
                Err(failure) => return Err(failure.into_problem(effect)),
            }
            tries += 1;
            waiting = StdInstant::now();
        }
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
