//! Waiting for what must come true. The limit is generous: it ends only a test that would wait for ever.

use crate::Session;
use std::panic::Location;
use std::time::{Duration, Instant};

/// How long a test waits for what must come true, on the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long it waits between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until something is so; `what` completes "it never happened that …".
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

/// Tells how long something took: a figure to print, not to compare.
pub struct Stopwatch(Instant);

impl Default for Stopwatch {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch {
    /// How many seconds ago it was made.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

impl Session {
    /// Waits until a statement answers this. Within a transaction some views of PostgreSQL never change.
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
                    "{location}: `{statement}` still answers {now:?}, not {response:?}"
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

    /// How much processor time the server process of this session has used.
    pub async fn processor_time(&self) -> Duration {
        processor_time(self.process().await)
    }
}

/// The most memory that a process ever had, in MiB.
pub fn peak_memory(process: impl std::fmt::Display) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts it");
    peak.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

/// How much processor time a process has used. Unlike the time of a clock, it does not grow with what else the machine
/// does.
pub fn processor_time(process: impl std::fmt::Display) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    // The name is in parentheses, and may hold spaces.
    let (_, fields) = stat.rsplit_once(')').expect("the name of the process");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().expect("a number of ticks")).sum();
    // Linux counts a hundred of them per second.
    Duration::from_millis(10 * ticks)
}
