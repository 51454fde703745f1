//! Periodic maintenance: deletes stored responses that are a day old, restarts jobs that a restart of the server
//! interrupted, and updates policies whose tables were locked.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::database::Database;
use crate::database::Effect::WriteOnce;

/// The minimum and maximum interval. It is random, so that several proxies of a database run at different times.
const PAUSE: [u64; 2] = [45, 75];

/// The maximum number of responses that one call deletes. If it is reached, there may be more.
const MAX_PER_CALL: i64 = 1000;

const FORGET: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed_http.forget_expired_answers() end";

const RUN_JOBS: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed_http.run_jobs() end";

/// An older schema does not have this function. Each call locks at most 100 tables, for about half a second.
const ENFORCE: &str =
    "select case when pg_catalog.pg_is_in_recovery() then 0 else keyed.enforce_grants(100)::bigint end";

/// Runs until the service stops.
pub async fn run(database: Arc<Database>) {
    loop {
        if let Err(problem) = database.run(WriteOnce, RUN_JOBS, &[]).await {
            tracing::debug!(cause = problem.cause(), "cannot start pending jobs");
        }
        sleep(Duration::from_secs(fastrand::u64(PAUSE[0]..=PAUSE[1]))).await;
        enforce(&database).await;
        loop {
            match database.run(WriteOnce, FORGET, &[]).await {
                Ok(row) if row.try_get::<_, i64>(0).unwrap_or(0) >= MAX_PER_CALL => {}
                Ok(_) => break,
                Err(problem) => {
                    tracing::debug!(cause = problem.cause(), "cannot delete expired responses");
                    break;
                }
            }
        }
    }
}

/// Repeats until no table is pending, or none could be locked for a while.
async fn enforce(database: &Database) {
    let mut progress = Progress::default();
    loop {
        match database.run(WriteOnce, ENFORCE, &[]).await {
            Ok(row) => match progress.after(row.try_get::<_, i64>(0).unwrap_or(0)) {
                Some(pause) => sleep(pause).await,
                None => return,
            },
            Err(problem) => {
                tracing::debug!(cause = problem.cause(), "cannot update policies of grants");
                return;
            }
        }
    }
}

/// The maximum number of successive calls in which no table could be locked. Each call tries other tables. The
/// remaining tables wait for the next interval.
const MAX_FRUITLESS_CALLS: u32 = 10;

/// Tracks whether repeated calls make progress.
#[derive(Default)]
struct Progress {
    waiting: i64,
    fruitless: u32,
}

impl Progress {
    /// The pause before the next call if this many tables are pending; `None` to stop.
    fn after(&mut self, waiting: i64) -> Option<Duration> {
        self.fruitless = if waiting < self.waiting { 0 } else { self.fruitless + 1 };
        self.waiting = waiting;
        if waiting == 0 || self.fruitless > MAX_FRUITLESS_CALLS {
            return None;
        }
        Some(if self.fruitless == 0 { Duration::ZERO } else { Duration::from_secs(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enforcement_continues_while_the_backlog_stagnates() {
        let mut progress = Progress::default();
        for waiting in [110, 109, 109, 112, 80] {
            assert!(progress.after(waiting).is_some(), "{waiting} wait");
        }
        let pauses: Vec<Duration> = std::iter::from_fn(|| progress.after(80)).take(100).collect();
        assert_eq!(pauses, [Duration::from_secs(1); MAX_FRUITLESS_CALLS as usize]);
    }

    #[test]
    fn enforcement_stops_without_a_backlog() {
        assert_eq!(Progress::default().after(0), None);
        let mut progress = Progress::default();
        assert!(progress.after(1).is_some());
        assert_eq!(progress.after(0), None);
    }
}
