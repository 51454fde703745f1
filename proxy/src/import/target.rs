//! Writes chunks, each in its own transaction or all in one.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};

use crate::caller::Caller;
use crate::database::Effect::Write;
use crate::database::transaction::Transaction;
use crate::problem::{Problem, Reason};
use crate::state::App;
use keyed_service::shutdown::Shutdown;
use keyed_service::statement::{Statement, statement, text};

const STATEMENT: Statement = statement!("import_rows($4::text, $5::text, $6::text)", source: "csv");

/// The pause between two attempts to get a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// The result of a check that does not wait for another import.
#[derive(Deserialize)]
struct CheckResponse<'a> {
    #[serde(borrow)]
    waits_for: &'a RawValue,
}

/// The import that has locked the template, if the result contains one.
pub(super) fn holder(response: &str) -> Option<&RawValue> {
    serde_json::from_str(response).ok().map(|CheckResponse { waits_for }| waits_for)
}

/// The template into which rows are written.
pub(crate) struct Target<'a> {
    app: &'a App,
    caller: &'a Caller,
    template: &'a str,
    whole: Option<Transaction<'a>>,
}

impl<'a> Target<'a> {
    pub(crate) async fn open(
        app: &'a App,
        caller: &'a Caller,
        template: &'a str,
        is_whole: bool,
    ) -> Result<Target<'a>, Problem> {
        let whole = if is_whole {
            // The file may arrive slowly. The timeout is its maximum time, in case the proxy dies.
            let timeout = app.file_timeout.as_millis();
            let begin = format!("begin; set local idle_in_transaction_session_timeout = {timeout}");
            Some(app.database.begin(caller, &begin).await?)
        } else {
            None
        };
        Ok(Target { app, caller, template, whole })
    }

    /// Has the database validate the options, with an import without rows, and returns its result.
    pub(crate) async fn check(&mut self, options: &str) -> Result<String, Problem> {
        self.write_once(options, "").await
    }

    /// Writes a chunk, and returns the result of the database. While all connections are busy, it waits for up to the
    /// maximum time of a file in one transaction, because an earlier timeout would leave the file partially imported.
    pub(crate) async fn write(&mut self, options: &str, rows: &str) -> Result<String, Problem> {
        let deadline = Instant::now() + self.app.file_timeout;
        loop {
            match self.write_once(options, rows).await {
                Err(problem) if problem.reason().is_some_and(is_busy) && Instant::now() < deadline => {
                    sleep(PAUSE).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn write_once(&mut self, options: &str, rows: &str) -> Result<String, Problem> {
        let arguments = [text(&self.template), text(&options), text(&rows)];
        let row = match &mut self.whole {
            Some(transaction) => transaction.call(STATEMENT, &arguments).await?,
            None => self.app.database.call(Write, self.caller, STATEMENT, &arguments).await?,
        };
        row.try_get(0).map_err(|error| Problem::internal(format!("not the result of an import: {error}")))
    }

    /// The shutdown of the service.
    pub(crate) fn shutdown(&self) -> Shutdown {
        self.app.shutdown.clone()
    }

    /// Commits the written rows.
    pub(crate) async fn keep(self) -> Result<(), Problem> {
        match self.whole {
            Some(transaction) => transaction.commit().await,
            None => Ok(()),
        }
    }

    /// Rolls back, if all rows are written in one transaction.
    pub(crate) async fn undo(self) {
        if let Some(transaction) = self.whole {
            transaction.roll_back().await;
        }
    }
}

/// Whether the limit is temporary: a connection or memory becomes available when other requests end.
fn is_busy(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::KeyConnections | Reason::RoleConnections | Reason::PoolWait | Reason::ResponseBudget
    )
}
