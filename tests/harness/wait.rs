//! Waiting for conditions. The generous timeout ends only a test that would wait forever.

use crate::Session;
use std::panic::Location;
use std::time::{Duration, Instant};

/// The timeout of a wait, sufficient for the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The pause between two checks.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until a condition holds; `what` completes "it never happened that …".
#[track_caller]
pub fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    let (location, began) = (Location::caller(), Instant::now());
    async move {
        while !is_so().await {
            assert!(began.elapsed() < PATIENCE, "{location}: it never happened that {what}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Measures elapsed time, to be printed and not compared.
pub struct Stopwatch(Instant);

impl Default for Stopwatch {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch {
    /// The seconds since its creation.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

impl Session {
    /// Waits until a statement returns this value. Within a transaction, some views of PostgreSQL never change.
    #[track_caller]
    pub fn until(&self, statement: &str, response: &str) -> impl Future<Output = ()> {
        let (location, began) = (Location::caller(), Instant::now());
        async move {
            loop {
                let now = self.text(statement, &[]).await;
                if now == response {
                    return;
                }
                assert!(
                    began.elapsed() < PATIENCE,
                    "{location}: `{statement}` still returns {now:?}, not {response:?}"
                );
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Waits until this many sessions of this database wait for locks.
    #[track_caller]
    pub fn until_blocked(&self, count: usize) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let blocked = "select count(*) from pg_stat_activity \
                           where datname = current_database() and wait_event_type = 'Lock'";
            let began = Instant::now();
            loop {
                let now = self.text(blocked, &[]).await;
                if now == count.to_string() {
                    return;
                }
                assert!(began.elapsed() < PATIENCE, "{location}: {now} sessions are blocked, not {count}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// The CPU time that the session's server process has used.
    pub async fn processor_time(&self) -> Duration {
        processor_time(self.process().await)
    }
}

/// The peak memory of a process, in MiB.
pub fn peak_memory(process: impl std::fmt::Display) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel reports it");
    peak.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

/// The CPU time that a process has used. Unlike elapsed time, it does not depend on the load of the machine.
pub fn processor_time(process: impl std::fmt::Display) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    // The name is in parentheses, and may contain spaces.
    let (_, fields) = stat.rsplit_once(')').expect("the name of the process");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().expect("a number of ticks")).sum();
    // Linux counts 100 ticks per second.
    Duration::from_millis(10 * ticks)
}
