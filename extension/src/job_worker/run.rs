//! The main loop of a worker: runs jobs round-robin until none is pending.

use super::chunks;
use super::index::{self, IndexBuilder};
use super::schedule::{Job, Next, Outcome, Schedule, brief};
use crate::job::{JobKind, TABLE, Worker};
use crate::postgres::advisory_lock::{self, LockKind};
use crate::postgres::caught::Caught;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::worker;
use pgrx::prelude::PgSqlErrorCode;
use std::ffi::c_long;

/// The maximum number of attempts of a job after errors that concurrent transactions cause.
const MAX_ATTEMPTS: i32 = 5;

worker::background_worker! {
    /// The main function of a background worker.
    keyed_work_on_jobs => run_jobs_of_worker
}

fn run_jobs_of_worker(number: u8) {
    let worker = Worker::by_number(number);
    let mut idle_runs = 0;
    // Checks again after the lock is released: a session may have requested a worker while the lock was held.
    while idle_runs < MAX_ATTEMPTS && has_pending(worker) && try_lock(worker) {
        idle_runs += 1;
        if work(worker) {
            idle_runs = 0;
        }
        retry_transient(|| advisory_lock::unlock_for_session(LockKind::Job, worker.lock_key() as u64));
    }
}

/// Runs jobs until none is pending. Returns whether there was one.
fn work(worker: Worker) -> bool {
    let (mut schedule, mut indexes) = (Schedule::default(), IndexBuilder::default());
    let mut has_worked = false;
    loop {
        match schedule.next(worker) {
            Ok(Next::Job(job)) => {
                has_worked = true;
                schedule.update(&job, run(&job, &mut indexes));
            }
            Ok(Next::Later(pause)) => {
                worker::show_activity("keyed: the remaining records are locked by other transactions");
                worker::sleep(pause.as_millis().max(10) as c_long);
            }
            Ok(Next::Nothing) => return has_worked,
            Err(caught) if is_transient(&caught) => {}
            Err(caught) => {
                pgrx::warning!("keyed: cannot run jobs: {}", caught.message);
                return has_worked;
            }
        }
    }
}

/// Whether a transaction was canceled, by a signal for the previous job, or the table of jobs is locked.
fn is_transient(caught: &Caught) -> bool {
    [PgSqlErrorCode::ERRCODE_QUERY_CANCELED, PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE]
        .contains(&caught.state)
}

/// Runs a transaction, and retries it after transient errors.
fn retry_transient<R>(body: impl Fn() -> R) -> Option<R> {
    loop {
        match brief(&body) {
            Ok(result) => return Some(result),
            Err(caught) if is_transient(&caught) => {}
            Err(caught) => {
                pgrx::warning!("keyed: cannot run jobs: {}", caught.message);
                return None;
            }
        }
    }
}

fn try_lock(worker: Worker) -> bool {
    let lock = || advisory_lock::try_lock_for_session(LockKind::Job, worker.lock_key() as u64);
    retry_transient(lock).unwrap_or(false)
}

fn has_pending(worker: Worker) -> bool {
    let sql = format!("select from {TABLE} where state = 'pending' and {} limit 1", worker.jobs());
    retry_transient(|| {
        crate::job::table_exists() && connected(|spi| !spi.run_once(&sql, Snapshot::Latest, &[]).is_empty())
    })
    .unwrap_or(false)
}

/// Runs a job until it yields to others.
fn run(job: &Job, indexes: &mut IndexBuilder) -> Outcome {
    if retry_transient(|| advisory_lock::try_lock_for_session(LockKind::Job, job.id as u64)).is_none() {
        return Outcome::Blocked;
    }
    worker::show_activity(&format!("keyed: {} of template {}", job.kind.name(), job.template));
    let outcome = match job.kind {
        JobKind::Index => indexes.build(job),
        JobKind::Documents | JobKind::Embeddings | JobKind::Series => chunks::run(job),
    };
    let outcome = outcome.unwrap_or_else(|caught| handle_error(job, &caught));
    retry_transient(|| advisory_lock::unlock_for_session(LockKind::Job, job.id as u64));
    outcome
}

/// Handles an error of a job. A change of a definition that needs the table cancels the job, and a lock may block it;
/// neither counts as a failed attempt.
fn handle_error(job: &Job, caught: &Caught) -> Outcome {
    match caught.state {
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED => return Outcome::Yielded,
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE => return Outcome::Blocked,
        _ => pgrx::warning!("keyed: job {} failed: {}", job.id, caught.message),
    }
    let is_final = !is_retryable(caught.state);
    let store_error = || {
        connected(|spi| {
            let sql = format!(
                "update {TABLE} set error = $2, attempts = attempts + 1, \
                 state = case when $3 or attempts + 1 >= {MAX_ATTEMPTS} then 'failed' else state end where id = $1"
            );
            let arguments = params![job.id, &caught.message, is_final];
            spi.run_once(&sql, Snapshot::Latest, &arguments);
        });
    };
    if let Err(caught) = brief(store_error) {
        // The next attempt stores its error.
        pgrx::warning!("keyed: job {} is locked: {}", job.id, caught.message);
        return Outcome::Blocked;
    }
    if is_final && job.kind == JobKind::Index {
        index::clean_up(job);
    }
    Outcome::Yielded
}

/// Whether a concurrent transaction may have caused the error: a deadlock, a lock, a change of the definition.
fn is_retryable(state: PgSqlErrorCode) -> bool {
    let class_of = |state: PgSqlErrorCode| state as i32 & 0xfff;
    [
        PgSqlErrorCode::ERRCODE_TRANSACTION_ROLLBACK,
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        PgSqlErrorCode::ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION,
    ]
    .into_iter()
    .any(|class| class_of(class) == class_of(state))
}
