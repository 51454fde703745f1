//! One attempt of a statement.

use std::time::Instant as StdInstant;

use deadpool_postgres::ClientWrapper;
use futures_util::future::join;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::types::{PgLsn, Type};
use tokio_postgres::{Error, Row};

use super::effect::Effect;
use super::failure::{Failure, is_loss, is_read_only, lost_race};
use super::server::Server;
use super::shared::PATIENCE;
use super::trace::Trace;
use keyed_service::statement::Argument;

/// The largest response after which a connection is used again. Its buffer keeps the room of the largest one for as long as it is
/// open, while a new connection takes a fraction of the time of such a response.
const MAX_CACHED: usize = 2 << 20;

/// The position up to which the log is safe, after the statement before it has committed. Where commits do not wait for that,
/// the position that was written.
const WRITTEN: &str = "select case when pg_catalog.current_setting('synchronous_commit') = 'off' \
    then pg_catalog.pg_current_wal_insert_lsn() else pg_catalog.pg_current_wal_flush_lsn() end";

/// Whether a replica has replayed a position, so that what follows on the session sees all that was written before it.
const REPLAYED: &str = "select pg_catalog.pg_is_in_recovery() \
    and pg_catalog.pg_last_wal_replay_lsn() operator(pg_catalog.>=) $1::pg_catalog.pg_lsn";

/// What is sent beside a statement on its connection, without a round trip of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    /// Behind it: which position the log has reached.
    LearnPosition,
    /// Before it: whether the server has replayed this position.
    Require(PgLsn),
}

impl Around {
    pub(super) fn of_read(position: Option<PgLsn>) -> Around {
        position.map_or(Around::Nothing, Around::Require)
    }
}

/// What a session answered.
pub(super) struct Answered {
    pub(super) outcome: Result<Row, Error>,
    /// What it says was before the required position.
    is_behind: bool,
    pub(super) position: Option<PgLsn>,
}

impl Answered {
    fn alone(outcome: Result<Row, Error>) -> Answered {
        Answered { outcome, is_behind: false, position: None }
    }
}

impl Server {
    /// Sends a pipelined lookup; `None` if that is not possible or took too long, and it must be sent on its own
    /// connection.
    pub(super) async fn try_shared(
        &self,
        trace: Trace<'_>,
        around: Around,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Option<Result<Row, Failure>> {
        let slot = self.shared.slot()?;
        let (mut sent, began) = (false, StdInstant::now());
        let answered = timeout(PATIENCE, self.execute(&slot, around, statement, arguments, &mut sent)).await;
        trace.asked(began, answered.as_ref().ok().map(|it| &it.outcome));
        match answered {
            Ok(Answered { is_behind: true, outcome, .. }) if outcome.as_ref().err().is_none_or(is_answer) => {
                slot.leave();
                Some(Err(Failure::Behind))
            }
            Ok(Answered { outcome: Ok(row), .. }) => {
                if row.raw_size_bytes() > MAX_CACHED {
                    slot.retire();
                }
                slot.leave();
                Some(Ok(row))
            }
            Ok(Answered { outcome: Err(error), .. }) => {
                slot.leave();
                // An error while preparing, or a lost connection or conflict, says nothing about the request.
                let is_refusal = sent && is_answer(&error) && !lost_race(&error);
                if !is_refusal {
                    self.metrics.retried("shared_error");
                }
                is_refusal.then_some(Err(Failure::Sent(error)))
            }
            Err(_) => {
                slot.report_stuck();
                self.stuck.notify_one();
                self.metrics.retried("shared_stuck");
                None
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "all that an attempt depends on")]
    pub(super) async fn try_once(
        &self,
        effect: Effect,
        around: Around,
        deadline: Instant,
        waiting: StdInstant,
        trace: Trace<'_>,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Failure> {
        let lease = timeout_at(deadline, self.lease()).await;
        trace.waited(waiting);
        let lease = lease.map_err(|_| Failure::TimedOut { sent: false })??;
        let (mut sent, began) = (false, StdInstant::now());
        let answered =
            timeout_at(deadline, self.execute(&lease, around, statement, arguments, &mut sent)).await;
        trace.asked(began, answered.as_ref().ok().map(|it| &it.outcome));
        let Ok(Answered { outcome, is_behind, position }) = answered else {
            return Err(Failure::TimedOut { sent });
        };
        trace.wrote(position);
        match outcome {
            Ok(row) => {
                if row.raw_size_bytes() > MAX_CACHED {
                    lease.discard();
                } else if effect == Effect::Lookup && self.shared.has_vacancy() {
                    let opened = lease.opened();
                    self.shared.offer(lease.detach(), opened);
                } else {
                    lease.release();
                }
                if is_behind { Err(Failure::Behind) } else { Ok(row) }
            }
            Err(error) => {
                // The final error of a session arrives before its end is noticed; the next user would get a closing
                // connection.
                if is_loss(&error) || (is_read_only(&error) && self.pools.trust.withdraw(lease.opened())) {
                    lease.discard();
                } else {
                    lease.release();
                }
                match (sent, is_behind && is_answer(&error)) {
                    (true, true) => Err(Failure::Behind),
                    (true, false) => Err(Failure::Sent(error)),
                    (false, _) => Err(Failure::Unsent(error)),
                }
            }
        }
    }

    pub(super) async fn execute(
        &self,
        client: &ClientWrapper,
        around: Around,
        statement: &str,
        arguments: &[Argument<'_>],
        sent: &mut bool,
    ) -> Answered {
        let answered = match around {
            Around::Nothing => Answered::alone(self.run_on(client, statement, arguments, sent).await),
            Around::LearnPosition => self.run_before_position(client, statement, arguments, sent).await,
            Around::Require(position) => {
                self.run_after_check(client, position, statement, arguments, sent).await
            }
        };
        if answered.outcome.as_ref().err().is_none_or(|error| error.as_db_error().is_some()) {
            self.pulse.beat();
        }
        answered
    }

    /// The position after what was sent before on this connection, if callers learn it.
    pub(super) async fn position_behind(&self, client: &ClientWrapper) -> Option<PgLsn> {
        if self.around(Effect::Write) == Around::Nothing {
            return None;
        }
        let row = client.query_typed_one(WRITTEN, &[]).await.ok()?;
        row.try_get(0).ok()
    }

    /// Both are sent at once, and the second runs after the first has committed.
    async fn run_before_position(
        &self,
        client: &ClientWrapper,
        statement: &str,
        arguments: &[Argument<'_>],
        sent: &mut bool,
    ) -> Answered {
        // Prepared before: otherwise it would be sent only when it is.
        if self.prepared {
            for statement in [statement, WRITTEN] {
                if let Err(error) = client.prepare_cached(statement).await {
                    return Answered::alone(Err(error));
                }
            }
        }
        let mut is_sent = false;
        let write = self.run_on(client, statement, arguments, sent);
        let (outcome, position) = join(write, self.run_on(client, WRITTEN, &[], &mut is_sent)).await;
        let position = position.ok().and_then(|row| row.try_get(0).ok());
        Answered { outcome, is_behind: false, position }
    }

    /// Both are sent at once, and the snapshot of the second is taken after the check.
    async fn run_after_check(
        &self,
        client: &ClientWrapper,
        position: PgLsn,
        statement: &str,
        arguments: &[Argument<'_>],
        sent: &mut bool,
    ) -> Answered {
        if self.prepared {
            for statement in [REPLAYED, statement] {
                if let Err(error) = client.prepare_cached(statement).await {
                    return Answered::alone(Err(error));
                }
            }
        }
        let (mut is_sent, required) = (false, [(&position as _, Type::PG_LSN)]);
        let check = self.run_on(client, REPLAYED, &required, &mut is_sent);
        let (check, outcome) = join(check, self.run_on(client, statement, arguments, sent)).await;
        let has_replayed = check.ok().and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        Answered { outcome, is_behind: !has_replayed, position: None }
    }

    async fn run_on(
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

/// Whether a session answered a statement, and goes on.
fn is_answer(error: &Error) -> bool {
    error.as_db_error().is_some() && !is_loss(error)
}
