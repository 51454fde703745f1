//! One attempt of a statement.

use std::time::Instant as StdInstant;

use deadpool_postgres::ClientWrapper;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{Error, Row};

use super::effect::Effect;
use super::failure::{Failure, is_loss, is_read_only, lost_race};
use super::lease::Lease;
use super::shared::PATIENCE;
use super::trace::Trace;
use super::{Database, in_the_name_of};
use crate::caller::Caller;
use crate::metrics::StatementKind;
use keyed_service::statement::Source;
use keyed_service::statement::{Argument, Statement};

/// The largest response after which a connection is used again. Its buffer keeps the room of the largest one for as long as it is
/// open, while a new connection takes a fraction of the time of such a response.
const MAX_CACHED: usize = 2 << 20;

impl Database {
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
        let request = caller.request();
        let all = in_the_name_of(&digest, caller, &request, arguments);
        let (mut sent, opened) = (false, lease.opened());
        let trace = self.trace(caller.admitted.as_ref(), StatementKind::File, statement.function());
        let began = StdInstant::now();
        // Files name their source themselves.
        let statement = statement.plain(Source::Api);
        let outcome = timeout_at(deadline, self.execute(lease, statement, &all, &mut sent)).await;
        trace.asked(began, outcome.as_ref().ok());
        match outcome {
            Ok(Ok(row)) => Ok(row),
            Ok(Err(error)) if sent => {
                if is_read_only(&error) {
                    self.pools.trust.withdraw(opened);
                }
                Err(Failure::Sent(error))
            }
            Ok(Err(error)) => Err(Failure::Unsent(error)),
            Err(_) => Err(Failure::TimedOut { sent }),
        }
    }

    /// Sends a pipelined lookup; `None` if that is not possible or took too long, and it must be sent on its own
    /// connection.
    pub(super) async fn try_shared(
        &self,
        trace: Trace<'_>,
        statement: &str,
        arguments: &[Argument<'_>],
    ) -> Option<Result<Row, Failure>> {
        let slot = self.shared.slot()?;
        let (mut sent, began) = (false, StdInstant::now());
        let outcome = timeout(PATIENCE, self.execute(&slot, statement, arguments, &mut sent)).await;
        trace.asked(began, outcome.as_ref().ok());
        match outcome {
            Ok(Ok(row)) => {
                if row.raw_size_bytes() > MAX_CACHED {
                    slot.retire();
                }
                slot.leave();
                Some(Ok(row))
            }
            Ok(Err(error)) => {
                slot.leave();
                // An error while preparing, or a lost connection or conflict, says nothing about the request.
                let is_refusal =
                    sent && error.as_db_error().is_some() && !is_loss(&error) && !lost_race(&error);
                if !is_refusal {
                    self.metrics.retried("shared_error");
                }
                is_refusal.then_some(Err(Failure::Sent(error)))
            }
            Err(_) => {
                slot.report_stuck();
                self.metrics.retried("shared_stuck");
                None
            }
        }
    }

    pub(super) async fn try_once(
        &self,
        effect: Effect,
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
        let outcome = timeout_at(deadline, self.execute(&lease, statement, arguments, &mut sent)).await;
        trace.asked(began, outcome.as_ref().ok());
        match outcome {
            Ok(Ok(row)) => {
                if row.raw_size_bytes() > MAX_CACHED {
                    lease.discard();
                } else if effect == Effect::Lookup && self.shared.has_vacancy() {
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
                if is_loss(&error) || (is_read_only(&error) && self.pools.trust.withdraw(lease.opened())) {
                    lease.discard();
                } else {
                    lease.release();
                }
                Err(if sent { Failure::Sent(error) } else { Failure::Unsent(error) })
            }
            Err(_) => Err(Failure::TimedOut { sent }),
        }
    }

    pub(super) async fn execute(
        &self,
        client: &ClientWrapper,
        statement: &str,
        arguments: &[Argument<'_>],
        sent: &mut bool,
    ) -> Result<Row, Error> {
        let outcome = self.run_on(client, statement, arguments, sent).await;
        if outcome.as_ref().err().is_none_or(|error| error.as_db_error().is_some()) {
            self.pulse.beat();
        }
        outcome
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
