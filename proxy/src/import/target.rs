//! Writes portions, each in its own transaction or all in one.

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

/// The time between two tries to get a connection, beside that of the tries.
const PAUSE: Duration = Duration::from_millis(50);

/// The response of the database to an import that does not wait for another.
#[derive(Deserialize)]
struct Waits<'a> {
    #[serde(borrow)]
    waits_for: &'a RawValue,
}

/// The import that holds the template, if the database names it in its response.
pub(super) fn holder(response: &str) -> Option<&RawValue> {
    serde_json::from_str(response).ok().map(|Waits { waits_for }| waits_for)
}

/// A template into which rows are written.
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
            // The file may arrive slowly; its maximum time is the timeout, in case the proxy dies.
            let timeout = app.file_timeout.as_millis();
            let begin = format!("begin; set local idle_in_transaction_session_timeout = {timeout}");
            Some(app.database.begin(caller, &begin).await?)
        } else {
            None
        };
        Ok(Target { app, caller, template, whole })
    }

    /// Lets the database check the options, as an import without rows, and gives back its answer.
    pub(crate) async fn check(&mut self, options: &str) -> Result<String, Problem> {
        self.write_once(options, "").await
    }

    /// Writes a portion, and gives back the answer of the database. Waits while connections are busy, for as long as a file in
    /// one transaction may take: a timeout would leave a part of the file written.
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
        row.try_get(0).map_err(|error| Problem::internal(format!("not the answer of an import: {error}")))
    }

    /// The end of the service.
    pub(crate) fn shutdown(&self) -> Shutdown {
        self.app.shutdown.clone()
    }

    /// Keeps what was written.
    pub(crate) async fn keep(self) -> Result<(), Problem> {
        match self.whole {
            Some(transaction) => transaction.commit().await,
            None => Ok(()),
        }
    }

    /// Takes back what one transaction for all has written.
    pub(crate) async fn undo(self) {
        if let Some(transaction) = self.whole {
            transaction.roll_back().await;
        }
    }
}

/// Whether there was no connection or no capacity, but will be once other requests end.
fn is_busy(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::KeyConnections | Reason::RoleConnections | Reason::PoolWait | Reason::ResponseBudget
    )
}
