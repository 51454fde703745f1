//! A job as a worker runs it, and the transactions of its steps.

use crate::job::{JobKind, TABLE};
use crate::postgres::caught::Caught;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::worker;
use std::ffi::CStr;

/// For how long a job waits for a lock before others have their turn.
const PATIENCE: &CStr = c"1s";

/// A job that a worker is at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) kind: JobKind,
    pub(crate) template: i32,
    pub(crate) attribute: Option<i32>,
}

/// Runs a transaction that waits for no lock for long.
pub(crate) fn brief<R>(body: impl FnOnce() -> R) -> Result<R, Box<Caught>> {
    worker::exit_on_postmaster_death();
    worker::transaction(|| with_settings(&[(c"lock_timeout", PATIENCE)], body))
}

/// Marks a job as running. Returns whether it still exists. Does not wait for a transaction that requests it again.
pub(crate) fn note_start(job: &Job) -> bool {
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
