//! The jobs of a worker, and their schedule: round-robin by template. A job that is blocked by locks is delayed.

use crate::job::{JobKind, TABLE, Worker};
use crate::postgres::caught::Caught;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::worker;
use std::collections::HashMap;
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The lock timeout of a job. After it, other jobs run first.
const LOCK_TIMEOUT: &CStr = c"1s";
/// The initial and the maximum delay before a blocked job is retried.
const BACKOFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// The delay after a change of a definition has canceled a job. It exceeds the retry interval of the definition.
const YIELD_DELAY: Duration = Duration::from_millis(1500);
/// The maximum interval between checks for new jobs.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A job that a worker runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) kind: JobKind,
    pub(crate) template: i32,
    pub(crate) attribute: Option<i32>,
}

/// Runs a transaction with a short lock timeout.
pub(crate) fn brief<R>(body: impl FnOnce() -> R) -> Result<R, Box<Caught>> {
    worker::exit_on_postmaster_death();
    worker::transaction(|| with_settings(&[(c"lock_timeout", LOCK_TIMEOUT)], body))
}

/// Sets `started_at` of a job. Returns whether the job still exists. Fails immediately if another transaction locks the row.
pub(crate) fn mark_started(job: &Job) -> bool {
    connected(|spi| {
        let by_id = params![job.id];
        let sql = format!("select started_at is null from {TABLE} where id = $1 for update nowait");
        let rows = spi.run_once(&sql, Snapshot::Latest, &by_id);
        if rows.is_empty() {
            return false;
        }
        if rows.get::<Option<bool>>(0, 0).unwrap_or_default() {
            spi.run_once(
                &format!("update {TABLE} set started_at = now() where id = $1"),
                Snapshot::Latest,
                &by_id,
            );
        }
        true
    })
}

/// The next job.
pub(crate) enum Next {
    /// This job.
    Job(Job),
    /// No job before this time has passed.
    Later(Duration),
    /// No job is pending.
    Nothing,
}

/// The result of running a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Chunks remain.
    More,
    /// Chunks remain, and the last one had large records.
    MoreHeavy,
    /// Locks of other transactions block the rest.
    Blocked,
    /// The job was canceled for a change of a definition, or failed.
    Yielded,
    /// The job is done, failed for good, or no longer exists.
    Finished,
}

/// The round-robin schedule of a worker.
#[derive(Default)]
pub(crate) struct Schedule {
    /// The template and the number of the job that ran last.
    last: (i32, i64),
    /// The jobs that are not retried before a time, with their current delay.
    delayed: HashMap<i64, (Instant, Duration)>,
}

impl Schedule {
    /// The next job of this worker that is not delayed.
    pub(crate) fn next(&mut self, worker: Worker) -> Result<Next, Box<Caught>> {
        let pending = brief(|| pending(worker))?;
        self.delayed.retain(|id, _| pending.iter().any(|job| job.id == *id));
        let now = Instant::now();
        let due =
            pending.iter().filter(|job| self.delayed.get(&job.id).is_none_or(|(until, _)| *until <= now));
        if let Some(job) = after(due, self.last) {
            self.last = (job.template, job.id);
            return Ok(Next::Job(job));
        }
        let earliest = self.delayed.values().map(|(until, _)| until.saturating_duration_since(now)).min();
        Ok(earliest.map_or(Next::Nothing, |delay| Next::Later(delay.min(POLL_INTERVAL))))
    }

    /// Delays a job that was blocked or yielded.
    pub(crate) fn update(&mut self, job: &Job, outcome: Outcome) {
        let [initial, max] = BACKOFF;
        let delay = match outcome {
            Outcome::More | Outcome::MoreHeavy | Outcome::Finished => {
                self.delayed.remove(&job.id);
                return;
            }
            Outcome::Blocked => {
                let before = self.delayed.get(&job.id).map(|(_, delay)| *delay);
                before.map_or(initial, |delay| (delay * 2).min(max))
            }
            Outcome::Yielded => YIELD_DELAY,
        };
        self.delayed.insert(job.id, (Instant::now() + delay, delay));
    }
}

/// The next job after the last one, ordered by template and number; after the end, the first job.
fn after<'j>(jobs: impl Iterator<Item = &'j Job>, last: (i32, i64)) -> Option<Job> {
    jobs.min_by_key(|job| ((job.template, job.id) <= last, job.template, job.id)).copied()
}

fn pending(worker: Worker) -> Vec<Job> {
    connected(|spi| {
        let sql = format!(
            "select id, kind, template_id, attribute_id from {TABLE} where state = 'pending' and {}",
            worker.jobs()
        );
        let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
        let job = |row| {
            Some(Job {
                id: rows.get(row, 0),
                kind: JobKind::parse(&rows.get::<Option<String>>(row, 1)?)?,
                template: rows.get(row, 2),
                attribute: rows.get(row, 3),
            })
        };
        (0..rows.len()).filter_map(job).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(template: i32, id: i64) -> Job {
        Job { id, kind: JobKind::Documents, template, attribute: None }
    }

    #[test]
    fn scheduler_alternates_between_templates() {
        let jobs = [job(7, 1), job(3, 2), job(7, 3)];
        let mut order = Vec::new();
        let mut last = (0, 0);
        for _ in 0..5 {
            let next = after(jobs.iter(), last).expect("a job");
            last = (next.template, next.id);
            order.push(next.id);
        }
        assert_eq!(order, [2, 1, 3, 2, 1]);
    }

    #[test]
    fn scheduler_backs_off_blocked_jobs_exponentially() {
        let (mut schedule, job) = (Schedule::default(), job(1, 1));
        let delays: Vec<Duration> = (0..8)
            .map(|_| {
                schedule.update(&job, Outcome::Blocked);
                schedule.delayed[&job.id].1
            })
            .collect();
        assert!(delays.is_sorted() && delays[0] == BACKOFF[0] && delays[7] == BACKOFF[1], "{delays:?}");
        schedule.update(&job, Outcome::More);
        schedule.update(&job, Outcome::Blocked);
        assert_eq!(schedule.delayed[&job.id].1, BACKOFF[0]);
    }
}
