//! The schedule of jobs: round robin by template; a job that meets locks is skipped for a while.

use super::job::{Job, brief};
use crate::job::workers::Worker;
use crate::job::{JobKind, TABLE};
use crate::postgres::caught::Caught;
use crate::postgres::spi::{Snapshot, connected};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For how long a job is passed over that met something of others: at first, and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// For how long after a definition has asked the worker to give way: longer than that pauses before it tries again.
const PAUSE_FOR_DEFINITION: Duration = Duration::from_millis(1500);
/// The worker looks for new jobs at least this often.
const NAP: Duration = Duration::from_secs(1);

/// The next job.
pub(crate) enum Next {
    /// This job.
    Job(Job),
    /// Nothing before so much time has passed.
    Later(Duration),
    /// Nothing is left.
    Nothing,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is more to do.
    More,
    /// There is more to do, and this was much.
    Much,
    /// Others have what is left to do.
    Held,
    /// A definition waits for the table.
    GaveWay,
    /// Nothing is left to do, or the job is given up.
    Over,
}

/// The turns of a worker.
#[derive(Default)]
pub(crate) struct Turns {
    /// The template and the number of the job whose turn was last.
    last: (i32, i64),
    passed_over: HashMap<i64, (Instant, Duration)>,
}

impl Turns {
    /// The next job of this worker that is not passed over.
    pub(crate) fn next(&mut self, worker: Worker) -> Result<Next, Box<Caught>> {
        let waiting = brief(|| waiting(worker))?;
        self.passed_over.retain(|id, _| waiting.iter().any(|job| job.id == *id));
        let now = Instant::now();
        let free =
            waiting.iter().filter(|job| self.passed_over.get(&job.id).is_none_or(|(until, _)| *until <= now));
        if let Some(job) = after(free, self.last) {
            self.last = (job.template, job.id);
            return Ok(Next::Job(job));
        }
        let earliest = self.passed_over.values().map(|(until, _)| until.saturating_duration_since(now)).min();
        Ok(earliest.map_or(Next::Nothing, |pause| Next::Later(pause.min(NAP))))
    }

    pub(crate) fn note(&mut self, job: &Job, outcome: Outcome) {
        let [first, longest] = PAUSE;
        let pause = match outcome {
            Outcome::More | Outcome::Much | Outcome::Over => {
                self.passed_over.remove(&job.id);
                return;
            }
            Outcome::Held => {
                let before = self.passed_over.get(&job.id).map(|(_, pause)| *pause);
                before.map_or(first, |pause| (pause * 2).min(longest))
            }
            Outcome::GaveWay => PAUSE_FOR_DEFINITION,
        };
        self.passed_over.insert(job.id, (Instant::now() + pause, pause));
    }
}

/// The first job behind the last one, in the order of templates; after the end the first of all.
fn after<'j>(jobs: impl Iterator<Item = &'j Job>, last: (i32, i64)) -> Option<Job> {
    jobs.min_by_key(|job| ((job.template, job.id) <= last, job.template, job.id)).copied()
}

fn waiting(worker: Worker) -> Vec<Job> {
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
        let mut turns = Vec::new();
        let mut last = (0, 0);
        for _ in 0..5 {
            let next = after(jobs.iter(), last).expect("a job");
            last = (next.template, next.id);
            turns.push(next.id);
        }
        assert_eq!(turns, [2, 1, 3, 2, 1]);
    }

    #[test]
    fn a_job_that_is_held_up_is_passed_over_for_longer_and_longer() {
        let (mut turns, job) = (Turns::default(), job(1, 1));
        let pauses: Vec<Duration> = (0..8)
            .map(|_| {
                turns.note(&job, Outcome::Held);
                turns.passed_over[&job.id].1
            })
            .collect();
        assert!(pauses.is_sorted() && pauses[0] == PAUSE[0] && pauses[7] == PAUSE[1], "{pauses:?}");
        turns.note(&job, Outcome::More);
        turns.note(&job, Outcome::Held);
        assert_eq!(turns.passed_over[&job.id].1, PAUSE[0]);
    }
}
