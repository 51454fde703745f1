//! A transaction of several statements, for imports and exports. Every other request is one statement.

use std::time::{Duration, Instant as StdInstant};

use futures_util::future::join;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Row;

use super::attempt::Answered;
use super::effect::Effect::{Read, Write};
use super::failure::{Failure, is_read_only};
use super::lease::Lease;
use super::server::Server;
use super::{Database, in_the_name_of};
use crate::admission::Share;
use crate::caller::Caller;
use crate::metrics::StatementKind;
use crate::problem::Problem;
use keyed_service::statement::{Argument, Source, Statement};

/// A transaction in progress. Dropping it undoes it.
pub(crate) struct Transaction<'a> {
    server: &'a Server,
    lease: Lease<'a>,
    caller: &'a Caller,
    /// Given back after the connection.
    _share: Option<Share>,
}

impl Database {
    /// Begins a transaction in the name of a caller: `begin` is the statement for it, with what else it needs.
    pub(crate) async fn begin<'a>(
        &'a self,
        caller: &'a Caller,
        begin: &str,
    ) -> Result<Transaction<'a>, Problem> {
        // A replica would end a long transaction that conflicts with what it replays, after a part of the response was sent.
        let server = &self.primary;
        let (trace, waiting) =
            (server.trace(caller.admitted.as_ref(), StatementKind::File, "begin"), StdInstant::now());
        let share = match &caller.admitted {
            Some(admitted) => Some(admitted.acquire_for_transfer().await?),
            None => None,
        };
        let lease = server.lease().await;
        trace.waited(waiting);
        let mut lease = lease.map_err(|failure| failure.into_problem(Read))?;
        lease.begin();
        let began = StdInstant::now();
        let begun = timeout(server.patience(), lease.batch_execute(begin)).await;
        trace.asked(began, begun.as_ref().ok());
        match begun {
            Ok(Ok(())) => Ok(Transaction { server, lease, caller, _share: share }),
            Ok(Err(error)) => {
                lease.discard();
                Err(Failure::Unsent(error).into_problem(Read))
            }
            Err(_) => Err(Failure::TimedOut { sent: false }.into_problem(Read)),
        }
    }
}

impl Transaction<'_> {
    /// Asks on behalf of the caller: `$1` and `$2` are the caller's, the arguments follow.
    pub(crate) async fn call(
        &mut self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        self.ask(statement, arguments).await.map_err(|failure| {
            // Nothing is kept before the end, so no outcome is in doubt.
            let problem = failure.into_problem(Read);
            if let Some(admitted) = &self.caller.admitted {
                admitted.recheck_key_if_denied(&problem);
            }
            problem
        })
    }

    async fn ask(&self, statement: Statement, arguments: &[Argument<'_>]) -> Result<Row, Failure> {
        let Transaction { server, lease, caller, .. } = self;
        let digest = caller.token_digest.as_slice();
        let request = caller.request();
        let all = in_the_name_of(&digest, caller, &request, arguments);
        let (mut sent, deadline) = (false, Instant::now() + server.patience());
        let trace = server.trace(caller.admitted.as_ref(), StatementKind::File, statement.function());
        let began = StdInstant::now();
        // Files name their source themselves.
        let statement = statement.plain(Source::Api);
        let run = server.execute(lease, server.around(Read), statement, &all, &mut sent);
        let answered = timeout_at(deadline, run).await;
        trace.asked(began, answered.as_ref().ok().map(|it| &it.outcome));
        match answered {
            Ok(Answered { outcome: Ok(row), .. }) => Ok(row),
            Ok(Answered { outcome: Err(error), .. }) if sent => {
                if is_read_only(&error) {
                    server.pools.trust.withdraw(lease.opened());
                }
                Err(Failure::Sent(error))
            }
            Ok(Answered { outcome: Err(error), .. }) => Err(Failure::Unsent(error)),
            Err(_) => Err(Failure::TimedOut { sent }),
        }
    }

    /// Keeps what was done.
    pub(crate) async fn commit(self) -> Result<(), Problem> {
        let trace = self.server.trace(self.caller.admitted.as_ref(), StatementKind::File, "commit");
        let began = StdInstant::now();
        let position = self.server.position_behind(&self.lease);
        let commit = join(self.lease.batch_execute("commit"), position);
        let (outcome, position) = match timeout(self.server.patience(), commit).await {
            Ok((outcome, position)) => (Ok(outcome), position),
            Err(elapsed) => (Err(elapsed), None),
        };
        trace.asked(began, outcome.as_ref().ok());
        trace.wrote(position);
        match outcome {
            Ok(Ok(())) => {
                self.lease.release();
                Ok(())
            }
            Ok(Err(error)) => {
                self.lease.discard();
                Err(Failure::Sent(error).into_problem(Write))
            }
            Err(_) => Err(Failure::TimedOut { sent: true }.into_problem(Write)),
        }
    }

    /// Rolls back, and keeps the connection.
    pub(crate) async fn roll_back(self) {
        const PATIENCE: Duration = Duration::from_secs(5);
        match timeout(PATIENCE, self.lease.batch_execute("rollback")).await {
            Ok(Ok(())) => self.lease.release(),
            // Its end is the end of the transaction.
            Ok(Err(_)) | Err(_) => self.lease.discard(),
        }
    }
}
