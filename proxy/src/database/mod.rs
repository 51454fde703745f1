//! One statement per request, so one round trip and one implicit transaction; retried if that is safe and useful.

/// The effect of a statement.
mod effect;
/// Errors of the database.
mod failure;
/// Whether requests may use the database.
mod gate;
/// Connections whose request was dropped.
mod lease;
/// The connections that are not shared.
mod pool;
/// Connections that short reads share.
mod shared;
/// Several statements in one transaction.
pub(crate) mod transaction;
/// The validity of connections.
mod trust;

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Pool};
pub(crate) use effect::Effect;
use failure::{Failure, is_loss, is_read_only, lost_race};
use gate::Gate;
use lease::Lease;
use shared::{PATIENCE, Shared};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use trust::Trust;

use crate::admission::Admitted;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::source::Source;
use crate::statement::{Argument, Statement, text};
use crate::tls::database::Connector;

/// The maximum number of attempts of a statement that conflicts with concurrent ones.
const TRIES: u64 = 3;

pub(crate) struct Database {
    pool: Pool,
    shared: Shared,
    trust: Trust,
    gate: Gate,
    connector: Connector,
    prepared: bool,
    answer_timeout: Duration,
    /// The number of unshared connections.
    connections: usize,
}

impl Database {
    /// Opens no connection yet, so the service starts whether the database answers or not.
    pub(crate) fn new(settings: &Settings, connector: &Connector, size: usize) -> anyhow::Result<Database> {
        // One shared connection keeps a core of the server busy; four for each core is the default of all.
        let shared = size / 4;
        let trust = Trust::new(settings.connection_age);
        let pool = pool::open(settings, connector.clone(), size - shared, trust.clone())?;
        Ok(Database {
            pool,
            shared: Shared::new(shared, trust.clone()),
            trust,
            gate: Gate::default(),
            connector: connector.clone(),
            prepared: settings.prepared_statements,
            answer_timeout: settings.request_timeout,
            connections: size - shared,
        })
    }

    /// Asks on behalf of a caller: `$1` and `$2` are the caller's, the arguments follow.
    pub(crate) async fn call(
        &self,
        effect: Effect,
        caller: &Caller,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        let digest = caller.token_digest.as_slice();
        let mut all = in_the_name_of(&digest, caller, arguments);
        let Some(idempotency) = caller.idempotency.as_ref().filter(|_| effect == Effect::Write) else {
            // Reads leave no history, so they have one prepared statement for all sources.
            let source = if effect == Effect::Write { caller.source } else { Source::Api };
            let statement = statement.plain(source);
            return self.run_for(caller.admitted.as_ref(), effect, statement, &all).await;
        };
        let fingerprint = idempotency.fingerprint(&all[1..])?;
        let fingerprint = fingerprint.as_slice();
        let statement = statement.once(all.len(), caller.source);
        all.push(text(&idempotency.key));
        all.push((&fingerprint, Type::BYTEA));
        self.run_for(caller.admitted.as_ref(), Effect::WriteOnce, &statement, &all).await
    }

    /// The maximum number of unshared connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections
    }

    /// Answers every request with this problem, or no longer with any.
    pub(crate) fn refuse(&self, reason: Option<Problem>) {
        self.gate.set(reason);
    }

    /// A connection of one's own.
    pub(crate) async fn lease(&self) -> Result<Lease<'_>, Failure> {
        if let Some(problem) = self.gate.refusal() {
            return Err(Failure::Refused(problem));
        }
        Ok(Lease::new(self.pool.get().await.map_err(Failure::NoConnection)?, &self.connector))
    }

    /// The timeout of a response.
    pub(crate) fn patience(&self) -> Duration {
        self.answer_timeout
    }

    /// Asks once, on a connection that the caller holds.
    pub(crate) async fn ask(
        &self,
        lease: &Lease<'_>,
        deadline: Instant,
        caller: &Caller,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Failure> {
        let digest = caller.token_digest.as_slice();
        let all = in_the_name_of(&digest, caller, arguments);
        let (mut sent, opened) = (false, lease.opened());
        // Files name their source themselves.
        let statement = statement.plain(Source::Api);
        match timeout_at(deadline, self.execute(lease, statement, &all, &mut sent)).await {
            Ok(Ok(row)) => Ok(row),
            Ok(Err(error)) if sent => {
                if is_read_only(&error) {
                    self.trust.withdraw(opened);
                }
                Err(Failure::Sent(error))
            }
            Ok(Err(error)) => Err(Failure::Unsent(error)),
            Err(_) => Err(Failure::TimedOut { sent }),
        }
    }

    /// Runs a statement that answers one row, for the service itself.
    pub(crate) async fn run(
        &self,
        effect: Effect,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        self.run_for(None, effect, statement, arguments).await
    }

    /// Runs a statement that returns one row, within the limits of the client.
    pub(crate) async fn run_for(
        &self,
        admitted: Option<&Admitted>,
        effect: Effect,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        let outcome = self.run_within(admitted, effect, statement, arguments).await;
        if let (Err(problem), Some(admitted)) = (&outcome, admitted) {
            admitted.heed(problem);
        }
        outcome
    }

    async fn run_within(
        &self,
        admitted: Option<&Admitted>,
        effect: Effect,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        if let Some(problem) = self.gate.refusal() {
            return Err(problem);
        }
        if effect == Effect::Lookup
            && let Some(answer) = self.try_shared(statement, arguments).await
        {
            return answer.map_err(|failure| failure.into_problem(effect));
        }
        // Whatever is waited for, and however often it is tried, this is the end.
        let deadline = Instant::now() + self.answer_timeout;
        let _share = match admitted {
            Some(admitted) => admitted.connection().await?,
            None => None,
        };
        let mut tries = 1;
        loop {
            match self.try_once(effect, deadline, statement, arguments).await {
                Ok(row) => return Ok(row),
                // The pause is random, so that two conflicting requests do not conflict again.
                Err(failure) if failure.is_lost_race() && tries < TRIES => {
                    sleep(Duration::from_millis(fastrand::u64(1..=10 * tries))).await;
                }
                Err(failure) if failure.is_repeatable(effect) && tries == 1 => {}
                Err(failure) => return Err(failure.into_problem(effect)),
            }
            tries += 1;
        }
    }

    /// Sends a pipelined lookup; `None` if that is not possible or took too long, and it must be sent on its own
    /// connection.
    async fn try_shared(&self, statement: &str, arguments: &[Argument<'_>]) -> Option<Result<Row, Failure>> {
        let slot = self.shared.slot()?;
        let mut sent = false;
        match timeout(PATIENCE, self.execute(&slot, statement, arguments, &mut sent)).await {
            Ok(Ok(row)) => {
                slot.leave();
                Some(Ok(row))
            }
            Ok(Err(error)) => {
                slot.leave();
                // An error while preparing, or a lost connection or conflict, says nothing about the request.
                let is_refusal =
                    sent && error.as_db_error().is_some() && !is_loss(&error) && !lost_race(&error);
                is_refusal.then_some(Err(Failure::Sent(error)))
            }
            Err(_) => {
                slot.report_stuck();
                None
            }
        }
    }

    async fn try_once(
        &self,
        effect: Effect,
        deadline: Instant,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Failure> {
        let lease = timeout_at(deadline, self.lease());
        let lease = lease.await.map_err(|_| Failure::TimedOut { sent: false })??;
        let mut sent = false;
        match timeout_at(deadline, self.execute(&lease, statement, arguments, &mut sent)).await {
            Ok(Ok(row)) => {
                if effect == Effect::Lookup && self.shared.has_vacancy() {
                    let opened = lease.opened();
                    self.shared.offer(lease.detach(), opened);
                } else {
                    lease.release();
                }
                Ok(row)
            }
            Ok(Err(error)) => {
                // The final error of a session arrives before its end is noticed; the next user would get a closing
                // connection.
                if is_loss(&error) || (is_read_only(&error) && self.trust.withdraw(lease.opened())) {
                    lease.discard();
                } else {
                    lease.release();
                }
                Err(if sent { Failure::Sent(error) } else { Failure::Unsent(error) })
            }
            Err(_) => Err(Failure::TimedOut { sent }),
        }
    }

    async fn execute(
        &self,
        client: &ClientWrapper,
        statement: &str,
        arguments: &[Argument<'_>],
        sent: &mut bool,
    ) -> Result<Row, Error> {
        if !self.prepared {
            *sent = true;
            return client.query_typed_one(statement, arguments).await;
        }
        let prepared = client.prepare_cached(statement).await?;
        let values: Vec<_> = arguments.iter().map(|(value, _)| *value).collect();
        *sent = true;
        client.query_one(&prepared, &values).await
    }
}

/// The arguments of a statement, after the two that authenticate.
fn in_the_name_of<'a>(
    digest: &'a &'a [u8],
    caller: &'a Caller,
    arguments: &[Argument<'a>],
) -> Vec<Argument<'a>> {
    let mut all: Vec<Argument<'a>> = Vec::with_capacity(2 + arguments.len());
    all.push((digest, Type::BYTEA));
    all.push(text(&caller.project));
    all.extend_from_slice(arguments);
    all
}
