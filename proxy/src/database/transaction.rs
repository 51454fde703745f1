//! A transaction of several statements, for imports and exports. Every other request is one statement.

use std::time::{Duration, Instant as StdInstant};

use tokio::time::{Instant, timeout};
use tokio_postgres::Row;

use super::Database;
use super::effect::Effect::{Read, Write};
use super::failure::Failure;
use super::lease::Lease;
use crate::admission::Share;
use crate::caller::Caller;
use crate::metrics::StatementKind;
use crate::problem::Problem;
use keyed_service::statement::{Argument, Statement};

/// A transaction in progress. Dropping it undoes it.
pub(crate) struct Transaction<'a> {
    database: &'a Database,
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
        let (trace, waiting) =
            (self.trace(caller.admitted.as_ref(), StatementKind::File, "begin"), StdInstant::now());
        let share = match &caller.admitted {
            Some(admitted) => Some(admitted.acquire_for_transfer().await?),
            None => None,
        };
        let lease = self.lease().await;
        trace.waited(waiting);
        let mut lease = lease.map_err(|failure| failure.into_problem(Read))?;
        lease.begin();
        let began = StdInstant::now();
        let begun = timeout(self.patience(), lease.batch_execute(begin)).await;
        trace.asked(began, begun.as_ref().ok());
        match begun {
            Ok(Ok(())) => Ok(Transaction { database: self, lease, caller, _share: share }),
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
        let deadline = Instant::now() + self.database.patience();
        let outcome = self.database.ask(&self.lease, deadline, self.caller, statement, arguments).await;
        outcome.map_err(|failure| {
            // Nothing is kept before the end, so no outcome is in doubt.
            let problem = failure.into_problem(Read);
            if let Some(admitted) = &self.caller.admitted {
                admitted.recheck_key_if_denied(&problem);
            }
            problem
        })
    }

    /// Keeps what was done.
    pub(crate) async fn commit(self) -> Result<(), Problem> {
        let trace = self.database.trace(self.caller.admitted.as_ref(), StatementKind::File, "commit");
        let began = StdInstant::now();
        let outcome = timeout(self.database.patience(), self.lease.batch_execute("commit")).await;
        trace.asked(began, outcome.as_ref().ok());
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
