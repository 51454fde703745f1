//! The main loop of a worker: runs jobs in turns until none is pending.

use super::job::{Job, brief};
use super::turns::{Next, Outcome, Turns};
use super::{index, portions};
use crate::job::workers::Worker;
use crate::job::{JobKind, TABLE};
use crate::postgres::advisory_lock::{self, LockKind};
use crate::postgres::caught::Caught;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::worker;
use pgrx::prelude::PgSqlErrorCode;
use std::ffi::c_long;

/// How often a job is tried that others got in the way of.
const MAX_ATTEMPTS: i32 = 5;

worker::background_worker! {
    /// Runs in a process of its own, which the server started.
    keyed_work_on_jobs => work_on_jobs
}

fn work_on_jobs(number: u8) {
    let worker = Worker::by_number(number);
    let mut in_vain = 0;
    // A session that requested a worker while the slot was taken relies on one more check after it is released.
    while in_vain < MAX_ATTEMPTS && has_pending(worker) && take_place(worker) {
        in_vain += 1;
        if work(worker) {
            in_vain = 0;
        }
        undisturbed(|| advisory_lock::unlock_for_session(LockKind::Job, worker.place() as u64));
    }
}

/// Runs jobs until none waits; whether there was one.
fn work(worker: Worker) -> bool {
    let (mut turns, mut indexes) = (Turns::default(), index::Turns::default());
    let mut has_worked = false;
    loop {
        match turns.next(worker) {
            Ok(Next::Job(job)) => {
                has_worked = true;
                turns.note(&job, run(&job, &mut indexes));
            }
            Ok(Next::Later(pause)) => {
                worker::show_activity("keyed: the remaining records are locked by other transactions");
                worker::sleep(pause.as_millis().max(10) as c_long);
            }
            Ok(Next::Nothing) => return has_worked,
            Err(caught) if is_passing(&caught) => {}
            Err(caught) => {
                pgrx::warning!("keyed: jobs wait: {}", caught.message);
                return has_worked;
            }
        }
    }
}

/// Whether the signal was for the previous job, or the table of jobs is locked.
fn is_passing(caught: &Caught) -> bool {
    [PgSqlErrorCode::ERRCODE_QUERY_CANCELED, PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE]
        .contains(&caught.state)
}

/// Runs a transaction, again where something passing kept it from its end.
fn undisturbed<R>(body: impl Fn() -> R) -> Option<R> {
    loop {
        match brief(&body) {
            Ok(result) => return Some(result),
            Err(caught) if is_passing(&caught) => {}
            Err(caught) => {
                pgrx::warning!("keyed: jobs wait: {}", caught.message);
                return None;
            }
        }
    }
}

fn take_place(worker: Worker) -> bool {
    undisturbed(|| advisory_lock::try_lock_for_session(LockKind::Job, worker.place() as u64)).unwrap_or(false)
}

fn has_pending(worker: Worker) -> bool {
    let sql = format!("select from {TABLE} where state = 'pending' and {} limit 1", worker.jobs());
    undisturbed(|| {
        crate::job::exist() && connected(|spi| !spi.run_once(&sql, Snapshot::Latest, &[]).is_empty())
    })
    .unwrap_or(false)
}

/// One turn of a job.
fn run(job: &Job, indexes: &mut index::Turns) -> Outcome {
    if undisturbed(|| advisory_lock::try_lock_for_session(LockKind::Job, job.id as u64)).is_none() {
        return Outcome::Held;
    }
    worker::show_activity(&format!("keyed: {} of template {}", job.kind.name(), job.template));
    let outcome = match job.kind {
        JobKind::Index => indexes.build(job),
        JobKind::Documents | JobKind::Embeddings | JobKind::Series => portions::run(job),
    };
    let outcome = outcome.unwrap_or_else(|caught| give_up(job, &caught));
    undisturbed(|| advisory_lock::unlock_for_session(LockKind::Job, job.id as u64));
    outcome
}

/// A definition that needs the table cancels the job, or a lock blocks it: neither is a fault of the job.
fn give_up(job: &Job, caught: &Caught) -> Outcome {
    match caught.state {
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED => return Outcome::GaveWay,
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE => return Outcome::Held,
        _ => pgrx::warning!("keyed: job {} failed: {}", job.id, caught.message),
    }
    let is_final = !is_worth_another_try(caught.state);
    let note = || {
        connected(|spi| {
            let sql = format!(
                "update {TABLE} set error = $2, attempts = attempts + 1, \
                 state = case when $3 or attempts + 1 >= {MAX_ATTEMPTS} then 'failed' else state end where id = $1"
            );
            let arguments = params![job.id, &caught.message, is_final];
            spi.run_once(&sql, Snapshot::Latest, &arguments);
        });
    };
    if let Err(caught) = brief(note) {
        // It is noted the next time.
        pgrx::warning!("keyed: job {} is locked: {}", job.id, caught.message);
        return Outcome::Held;
    }
    if is_final && job.kind == JobKind::Index {
        index::clean_up(job);
    }
    Outcome::GaveWay
}

/// Whether the error was caused by others: a deadlock, a lock, a concurrent change of the definition.
fn is_worth_another_try(state: PgSqlErrorCode) -> bool {
    let class_of = |state: PgSqlErrorCode| state as i32 & 0xfff;
    [
        PgSqlErrorCode::ERRCODE_TRANSACTION_ROLLBACK,
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        PgSqlErrorCode::ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION,
    ]
    .into_iter()
    .any(|class| class_of(class) == class_of(state))
}
