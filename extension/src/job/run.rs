//! The worker: one process for each database, which does one job after the other until none waits.

use super::{Kind, TABLE, index, portions};
use crate::postgres::advisory_lock::{self, Kind as Lock};
use crate::postgres::guard::Caught;
use crate::postgres::spi::{Access, connected};
use crate::postgres::{datum, worker};
use crate::template::catalog;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::PgSqlErrorCode;

/// The number of the lock of the one worker.
const WORKER: u64 = 0;
/// How often a job is tried that others got in the way of.
const MOST_ATTEMPTS: i32 = 5;
/// How long others go first after they did, in milliseconds.
const PAUSE: std::ffi::c_long = 1000;

/// A job that the worker is at.
pub(super) struct Job {
    pub(super) id: i64,
    pub(super) kind: Kind,
    pub(super) template: i32,
    pub(super) attribute: Option<i32>,
}

/// Runs in a process of its own, which the server started.
///
/// # Safety
/// Only PostgreSQL calls it, once, at the beginning of a background worker.
#[unsafe(no_mangle)]
#[pgrx::pg_guard]
pub unsafe extern "C-unwind" fn keyed_work_on_jobs(argument: Datum) {
    worker::begin(argument);
    let mut in_vain = 0;
    // Who asked for a worker while the place was taken relies on one more look after it was given back.
    while in_vain < MOST_ATTEMPTS && has_pending() && take_place() {
        in_vain += 1;
        while let Some(job) = next() {
            run(&job);
            in_vain = 0;
        }
        undisturbed(|| advisory_lock::unlock_for_session(Lock::Job, WORKER));
    }
}

/// Runs a transaction again that was cancelled: that was meant for the job before.
fn undisturbed<R>(body: impl Fn() -> R) -> Option<R> {
    loop {
        match worker::transaction(&body) {
            Ok(result) => return Some(result),
            Err(caught) if caught.state == PgSqlErrorCode::ERRCODE_QUERY_CANCELED => {}
            Err(caught) => {
                pgrx::warning!("keyed: jobs wait: {}", caught.message);
                return None;
            }
        }
    }
}

fn take_place() -> bool {
    undisturbed(|| advisory_lock::try_lock_for_session(Lock::Job, WORKER)).unwrap_or(false)
}

fn has_pending() -> bool {
    let sql = format!("select from {TABLE} where state = 'pending' limit 1");
    undisturbed(|| super::exists() && connected(|spi| !spi.run_once(&sql, Access::Latest, &[]).is_empty()))
        .unwrap_or(false)
}

/// The next job, from now on shown as running. An index waits for transactions of others, so all else comes first.
fn next() -> Option<Job> {
    let claim = || {
        catalog::refresh();
        connected(|spi| {
            let rows = spi.run_once(
                "select j.id, j.kind, j.template_id, j.attribute_id from keyed_state.job j where j.state = 'pending' \
                 order by j.kind = 'index', j.attempts, j.id limit 1",
                Access::Latest,
                &[],
            );
            if rows.is_empty() {
                return None;
            }
            let job = Job {
                id: datum::read_i64(rows.get(0, 0)?),
                kind: Kind::parse(&datum::read_text(rows.get(0, 1)?))?,
                template: datum::read_i32(rows.get(0, 2)?),
                attribute: rows.get(0, 3).map(datum::read_i32),
            };
            let sql = format!("update {TABLE} set started_at = coalesce(started_at, now()) where id = $1");
            spi.run_once(&sql, Access::Latest, &[(pg_sys::INT8OID, Some(Datum::from(job.id)))]);
            Some(job)
        })
    };
    let job = undisturbed(claim).flatten()?;
    undisturbed(|| advisory_lock::try_lock_for_session(Lock::Job, job.id as u64))?;
    Some(job)
}

fn run(job: &Job) {
    worker::show_activity(&format!("keyed: {} of template {}", job.kind.name(), job.template));
    let outcome = match job.kind {
        Kind::Index => index::build(job),
        Kind::Documents | Kind::Embeddings => portions::run(job),
    };
    if let Err(caught) = outcome {
        give_up(job, &caught);
    }
    undisturbed(|| advisory_lock::unlock_for_session(Lock::Job, job.id as u64));
}

/// A definition that needs the table cancels the job, which begins anew after it.
fn give_up(job: &Job, caught: &Caught) {
    if caught.state != PgSqlErrorCode::ERRCODE_QUERY_CANCELED {
        pgrx::warning!("keyed: job {} failed: {}", job.id, caught.message);
        let is_final = !is_worth_another_try(caught.state);
        let note = || {
            connected(|spi| {
                let sql = format!(
                    "update {TABLE} set error = $2, attempts = attempts + 1, \
                     state = case when $3 or attempts + 1 >= {MOST_ATTEMPTS} then 'failed' else state end where id = $1"
                );
                let arguments = [
                    (pg_sys::INT8OID, Some(Datum::from(job.id))),
                    (pg_sys::TEXTOID, datum::text(&caught.message)),
                    (pg_sys::BOOLOID, Some(Datum::from(is_final))),
                ];
                spi.run_once(&sql, Access::Latest, &arguments);
            });
        };
        undisturbed(note);
        if is_final && job.kind == Kind::Index {
            index::clean_up(job);
        }
    }
    worker::sleep(PAUSE);
}

/// Whether what went wrong was others' doing: a deadlock, a lock, a definition that changed meanwhile.
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
