//! Rules that must hold for concurrent callers, over real connections.

mod batch;
mod change;
mod define;
mod embedding;
mod idempotency;
mod import;
mod inbound;
mod job;
mod metric;
mod order;
mod postgres;
mod quota;
mod record;
mod tenants;

use harness::{Database, PATIENCE, Rows, Session, SqlError, until};
use tokio::task::JoinHandle;

/// A running statement in another session.
struct Waiting {
    process: String,
    outcome: JoinHandle<Result<Rows, SqlError>>,
}

impl Waiting {
    /// Sends a statement, and returns when the server makes it wait for a lock.
    async fn start(session: Session, observer: &Session, statement: &str, strings: &[&str]) -> Self {
        let process = session.process().await;
        let statement = statement.to_owned();
        let strings: Vec<String> = strings.iter().map(|text| (*text).to_owned()).collect();
        let outcome = tokio::spawn(async move {
            session.attempt(&statement, &strings.iter().map(String::as_str).collect::<Vec<_>>()).await
        });
        let waiting = Self { process, outcome };
        until("the statement waits", async || {
            let blocked = "select exists (select from pg_locks where pid = $1 and not granted)";
            let is_blocked = observer.text(blocked, &[&waiting.process]).await == "t";
            assert!(is_blocked || !waiting.outcome.is_finished(), "the statement ended without waiting");
            is_blocked
        })
        .await;
        waiting
    }

    /// The outcome of the statement.
    async fn outcome(self) -> Result<Rows, SqlError> {
        let outcome = tokio::time::timeout(PATIENCE, self.outcome).await;
        outcome.expect("the statement goes on once the lock is free").expect("the session is open")
    }
}

/// The first row of an outcome, as text.
fn first_row(rows: &Rows) -> Vec<String> {
    rows.first().into_iter().flatten().map(|value| value.clone().unwrap_or_default()).collect()
}

/// The number of live customers with a key, counted without any index.
async fn live(session: &Session, external_key: &str) -> String {
    let count = "select count(*) from crm.customers where external_key = $1 and deleted_at is null";
    session
        .run("set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off")
        .await;
    let count = session.text(count, &[external_key]).await;
    session.run("reset enable_indexscan; reset enable_bitmapscan; reset enable_indexonlyscan").await;
    count
}

/// Panics if the server has detected a deadlock in this database, with the details from its log. The proxy retries
/// deadlocked transactions, so responses do not show them, and the server's counters lag behind its log.
#[track_caller]
fn assert_no_deadlock(database: &Database) {
    let position = format!("@{} ", database.name());
    let (log, mut is_ours) = (database.cluster().log(), false);
    let ours = log.lines().filter(|line| {
        // The continuation lines of a message are indented.
        is_ours = if line.starts_with('\t') { is_ours } else { line.contains(&position) };
        is_ours
    });
    let ours: Vec<&str> = ours.collect();
    if let Some(first) = ours.iter().position(|line| line.contains("deadlock detected")) {
        // The waits come first, because a long message may be cut off.
        let (waits, deadlock) = ours.split_at(first);
        panic!("the server ended a deadlock:\n{}\nbefore:\n{}", deadlock.join("\n"), waits.join("\n"));
    }
}
