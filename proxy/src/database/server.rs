//! The connections to one server, and its statements: each is one round trip and one implicit transaction.

use std::sync::Arc;
use std::time::{Duration, Instant as StdInstant};

use deadpool_postgres::Pool;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tokio_postgres::types::PgLsn;

use super::attempt::Around;
use super::effect::Effect;
use super::failure::Failure;
use super::gate::Gate;
use super::lease::Lease;
use super::pools::Pools;
use super::shared::Shared;
use super::trace::Trace;
use super::trust::Trust;
use crate::admission::{Admitted, Pulse, ResponseKind};
use crate::metrics::{Metrics, StatementKind};
use crate::problem::Problem;
use crate::settings::Settings;
use keyed_service::statement::Argument;
use keyed_service::tls::database::Connector;

/// The maximum number of attempts of a statement that conflicts with concurrent ones.
const TRIES: u64 = 3;

/// The connections to a server.
pub(crate) struct Server {
    pub(super) pool: Pool,
    pub(super) shared: Shared,
    pub(super) pools: Pools,
    pub(super) gate: Gate,
    pub(super) connector: Connector,
    pub(super) prepared: bool,
    answer_timeout: Duration,
    /// The number of unshared connections.
    connections: usize,
    pub(super) metrics: Arc<Metrics>,
    pub(super) pulse: Arc<Pulse>,
    /// Which replica it is; none for the primary.
    pub(super) replica: Option<u64>,
    /// Whether callers learn the position after their writes.
    tells_positions: bool,
    /// A lookup got no response in time.
    pub(super) stuck: Notify,
}

/// A statement that returns one row, and its deadline.
pub(super) struct Execution<'a> {
    pub(super) admitted: Option<&'a Admitted>,
    pub(super) effect: Effect,
    /// The function that it calls.
    pub(super) function: &'static str,
    pub(super) statement: &'a str,
    pub(super) arguments: &'a [Argument<'a>],
    pub(super) deadline: Instant,
}

impl Server {
    /// Opens no connection yet, so the service starts whether the database answers or not.
    pub(super) fn primary(
        settings: &Settings,
        connector: &Connector,
        size: usize,
        metrics: &Arc<Metrics>,
        tells_positions: bool,
    ) -> anyhow::Result<Server> {
        let pools = Pools::new(Trust::new(settings.connection_age));
        let mut server =
            Server::with_pools(settings, connector, size, metrics, pools, Arc::new(Pulse::new()))?;
        server.tells_positions = tells_positions;
        Ok(server)
    }

    /// The same of a replica.
    pub(super) fn replica(
        settings: &Settings,
        connector: &Connector,
        metrics: &Arc<Metrics>,
        number: u64,
    ) -> anyhow::Result<Server> {
        let mut server = Server::primary(settings, connector, settings.pool_size, metrics, false)?;
        server.replica = Some(number);
        Ok(server)
    }

    fn with_pools(
        settings: &Settings,
        connector: &Connector,
        size: usize,
        metrics: &Arc<Metrics>,
        pools: Pools,
        pulse: Arc<Pulse>,
    ) -> anyhow::Result<Server> {
        // One shared connection keeps a core of the server busy; four for each core is the default of all.
        let shared = size / 4;
        let pool = pools.open(settings, connector.clone(), size - shared)?;
        Ok(Server {
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
            replica: None,
            tells_positions: false,
            stuck: Notify::new(),
        })
    }

    /// One connection to the same server, for what must not wait behind requests. It is replaced when theirs are.
    pub(super) fn beside(&self, settings: &Settings) -> anyhow::Result<Server> {
        let Server { pools, pulse, connector, metrics, .. } = self;
        Server::with_pools(settings, connector, 1, metrics, pools.clone(), Arc::clone(pulse))
    }

    /// Uses no open connection for another request: those that are idle are closed now, the others when they are.
    pub(super) fn renew(&self) {
        self.pools.trust.withdraw_all();
        self.pools.close_idle();
        self.shared.close_idle();
    }

    /// Sets the metrics of connections.
    pub(super) fn measure(&self) {
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

    /// The maximum number of unshared connections.
    pub(super) fn connections(&self) -> usize {
        self.connections
    }

    pub(super) fn trace<'a>(
        &'a self,
        admitted: Option<&'a Admitted>,
        kind: StatementKind,
        function: &'static str,
    ) -> Trace<'a> {
        Trace::new(&self.metrics, admitted, kind, function, self.replica)
    }

    /// A connection for one caller.
    pub(super) async fn lease(&self) -> Result<Lease<'_>, Failure> {
        if let Some(problem) = self.gate.refusal() {
            return Err(Failure::Refused(problem));
        }
        Ok(Lease::new(self.pool.get().await.map_err(Failure::NoConnection)?, &self.connector, &self.pools))
    }

    /// The timeout of a response.
    pub(super) fn patience(&self) -> Duration {
        self.answer_timeout
    }

    /// What is sent beside a statement.
    pub(super) fn around(&self, effect: Effect) -> Around {
        match effect {
            Effect::Write | Effect::WriteOnce if self.tells_positions => Around::LearnPosition,
            _ => Around::Nothing,
        }
    }

    /// Runs a statement that returns one row, within the limits of the client. It is sent again where that is safe and useful.
    pub(super) async fn run(
        &self,
        Execution { admitted, effect, function, statement, arguments, deadline }: Execution<'_>,
    ) -> Result<Row, Problem> {
        if let Some(problem) = self.gate.refusal() {
            return Err(problem);
        }
        let trace = self.trace(admitted, effect.into(), function);
        let kind = ResponseKind::from(effect);
        // A large response would hold up those that share its connection.
        if effect == Effect::Lookup
            && admitted.is_none_or(|admitted| admitted.expects_small_response(kind))
            && let Some(answer) = self.try_shared(trace, Around::Nothing, statement, arguments).await
        {
            return answer
                .map_err(|failure| failure.into_problem(effect))
                .and_then(|row| received(admitted, kind, row));
        }
        let mut waiting = StdInstant::now();
        let _share = match admitted {
            Some(admitted) => Some(admitted.acquire(kind, self.replica).await?),
            None => None,
        };
        let around = self.around(effect);
        let mut tries = 1;
        loop {
            let trace = trace.attempt(tries);
            let attempt = self.try_once(effect, around, deadline, waiting, trace, statement, arguments);
            match attempt.await {
                Ok(row) => return received(admitted, kind, row),
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

    /// Runs a read once, on a server that has replayed this position.
    pub(super) async fn read_once(
        &self,
        &Execution { admitted, effect, function, statement, arguments, deadline }: &Execution<'_>,
        position: Option<PgLsn>,
    ) -> Result<Row, Failure> {
        let trace = self.trace(admitted, effect.into(), function);
        let (kind, around) = (ResponseKind::from(effect), Around::of_read(position));
        let received = |row| received(admitted, kind, row).map_err(Failure::Refused);
        if effect == Effect::Lookup
            && admitted.is_none_or(|admitted| admitted.expects_small_response(kind))
            && let Some(answer) = self.try_shared(trace, around, statement, arguments).await
        {
            return answer.and_then(received);
        }
        let waiting = StdInstant::now();
        let _share = match admitted {
            Some(admitted) => Some(admitted.acquire(kind, self.replica).await.map_err(Failure::Refused)?),
            None => None,
        };
        self.try_once(effect, around, deadline, waiting, trace, statement, arguments).await.and_then(received)
    }
}

/// Counts a response for its key.
fn received(admitted: Option<&Admitted>, kind: ResponseKind, row: Row) -> Result<Row, Problem> {
    match admitted {
        Some(admitted) => admitted.receive(kind, row.raw_size_bytes()).map(|()| row),
        None => Ok(row),
    }
}
