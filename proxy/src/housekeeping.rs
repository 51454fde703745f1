//! What is done now and then, whoever asks or nobody: answers kept for repeated requests are forgotten when they are a day
//! old, also where no further request comes that would do it; jobs that a restart of the server interrupted go on; and
//! policies follow grants where that waited for a table to be free.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::database::Effect::WriteOnce;
use crate::state::App;

/// How long is waited from one time to the next, at least and at most: several proxies of a database take turns.
const PAUSE: [u64; 2] = [45, 75];

/// What one call forgets at most, after which there may be more.
const AT_ONCE: i64 = 1000;

const FORGET: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed_http.forget_expired_answers() end";

const RUN_JOBS: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed_http.run_jobs() end";

/// In a state that is not migrated there is nothing of it yet. Each call keeps everybody else out of so many tables at most
/// until it ends.
const ENFORCE: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed.enforce_grants(100)::bigint end";

/// Runs as long as the service does.
pub(crate) async fn run(app: Arc<App>) {
    loop {
        if let Err(problem) = app.database.run(WriteOnce, RUN_JOBS, &[]).await {
            tracing::debug!(cause = problem.cause(), "jobs were not started again");
        }
        sleep(Duration::from_secs(fastrand::u64(PAUSE[0]..=PAUSE[1]))).await;
        enforce(&app).await;
        loop {
            match app.database.run(WriteOnce, FORGET, &[]).await {
                Ok(row) if row.try_get::<_, i64>(0).unwrap_or(0) >= AT_ONCE => {}
                Ok(_) => break,
                Err(problem) => {
                    tracing::debug!(cause = problem.cause(), "answers that are too old were not forgotten");
                    break;
                }
            }
        }
    }
}

/// Goes on as long as fewer tables wait each time.
async fn enforce(app: &App) {
    let mut waiting = i64::MAX;
    loop {
        match app.database.run(WriteOnce, ENFORCE, &[]).await {
            Ok(row) => match row.try_get::<_, i64>(0).unwrap_or(0) {
                fewer if 0 < fewer && fewer < waiting => waiting = fewer,
                _ => return,
            },
            Err(problem) => {
                tracing::debug!(cause = problem.cause(), "policies could not follow grants");
                return;
            }
        }
    }
}
