//! Jobs over all records, in chunks. Each chunk is a transaction.
//!
//! Locked records are skipped, stored in `left_out`, and processed at the end.

use super::schedule::{Job, Outcome, brief, mark_started};
use crate::embedding::queue;
use crate::job::{Done, JobKind, TABLE};
use crate::metric;
use crate::postgres::caught::Caught;
use crate::postgres::guard::with_settings;
use crate::postgres::invalidation;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::search::text;
use crate::template::{Template, catalog};
use crate::value::table_name::SideTable;
use std::ffi::CStr;
use uuid::Uuid;

/// The number of chunks before other jobs run.
const CHUNKS_IN_A_ROW: usize = 4;
/// The maximum number of skipped records before a job waits for some of them.
const MAX_LEFT_OUT: usize = 1000;
/// The lock timeout for reading a definition.
const LOCK_TIMEOUT: &CStr = c"50ms";

/// Runs some chunks of a job.
pub(crate) fn run(job: &Job) -> Result<Outcome, Box<Caught>> {
    if !brief(|| mark_started(job))? {
        return Ok(Outcome::Finished);
    }
    brief(|| connected(|spi| count(spi, job)))?;
    for _ in 0..CHUNKS_IN_A_ROW {
        match brief(|| connected(|spi| run_chunk(spi, job)))? {
            Outcome::More => {}
            outcome => return Ok(outcome),
        }
    }
    Ok(Outcome::More)
}

/// The template of a job. This lookup locks its definition for the transaction.
fn template_of(job: &Job) -> Option<std::rc::Rc<Template>> {
    catalog::refresh();
    with_settings(&[(c"lock_timeout", LOCK_TIMEOUT)], || catalog::by_id(job.template))
}

/// Counts the records, for the progress of the job.
fn count(spi: &Connection, job: &Job) {
    let Some(template) = template_of(job) else { return };
    let counted = match job.kind {
        JobKind::Series => {
            format!("{} p where p.attribute_id = any (j.dropped)", SideTable::Series.sql(template.id))
        }
        _ => format!("{} t where t.deleted_at is null", template.table_sql()),
    };
    let sql = format!(
        "update {TABLE} j set records = (select count(*) from {counted}) where j.id = $1 and j.records is null"
    );
    spi.run_once(&sql, Snapshot::Latest, &params![job.id]);
}

/// Processes the next records.
fn run_chunk(spi: &Connection, job: &Job) -> Outcome {
    let by_id = job.id;
    let Some(template) = template_of(job) else {
        // Dropping a template deletes its jobs, so this table was dropped or replaced directly.
        fail(spi, job, "the table of the template does not exist");
        return Outcome::Finished;
    };
    let sql = format!("select position, left_out, dropped from {TABLE} where id = $1 for update nowait");
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![by_id]);
    if rows.is_empty() {
        return Outcome::Finished;
    }
    let position = rows.get::<Option<Uuid>>(0, 0).unwrap_or_default();
    let left_out = rows.get::<Option<Vec<Uuid>>>(0, 1).unwrap_or_default();
    // Records whose values are too long are skipped as well, and retried at the end, because they may change.
    let store_progress = |position: Uuid, done: &Done, left_out: &[Uuid]| {
        let sql = format!(
            "update {TABLE} set position = $2, records_done = records_done + $3, left_out = $4, \
             error = coalesce($5, error) where id = $1"
        );
        let count = done.records as i64;
        let error = text::write::too_long_message(&done.rejected);
        spi.run_once(&sql, Snapshot::Latest, &params![by_id, position, count, left_out, error]);
        if done.is_heavy { Outcome::MoreHeavy } else { Outcome::More }
    };
    // The position after the last record.
    let end = Uuid::max();
    if left_out.len() >= MAX_LEFT_OUT || position == end && !left_out.is_empty() {
        let done = match job.kind {
            JobKind::Documents => text::rebuild::some(spi, &template, &left_out),
            JobKind::Embeddings => queue::definition::some(spi, &template, &left_out),
            JobKind::Index | JobKind::Series => return Outcome::Finished,
        };
        if done.records == 0 && done.busy.is_empty() {
            fail(spi, job, &text::write::too_long_message(&done.rejected).unwrap_or_default());
            return Outcome::Finished;
        }
        if done.records == 0 {
            return Outcome::Blocked;
        }
        return store_progress(position, &done, &[&*done.busy, &*done.rejected].concat());
    }
    if position == end {
        // A restart during the job may have changed the version of the text-search dictionaries.
        let sql = format!(
            "delete from {TABLE} where id = $1 returning started_at > pg_catalog.pg_postmaster_start_time()"
        );
        let is_uninterrupted = spi.run_once(&sql, Snapshot::Latest, &params![by_id]).value::<Option<bool>>();
        if job.kind == JobKind::Documents && is_uninterrupted.flatten().unwrap_or_default() {
            text::rebuild::note_version(spi, template.id);
        }
        // Invalidates cached templates, so that searches use the stems of the current language only.
        invalidation::announce(template.table);
        return Outcome::Finished;
    }
    let done = match job.kind {
        JobKind::Documents => text::rebuild::rewrite_chunk(spi, &template, position),
        JobKind::Embeddings => queue::definition::chunk(spi, &template, position),
        JobKind::Series => {
            let dropped = rows.get::<Option<Vec<i32>>>(0, 2).unwrap_or_default();
            metric::removal::chunk(spi, &template, &dropped, position)
        }
        JobKind::Index => return Outcome::Finished,
    };
    store_progress(done.last.unwrap_or(end), &done, &[&*left_out, &*done.busy, &*done.rejected].concat())
}

/// Marks the job as failed until `keyed.run_jobs(retry => true)`.
fn fail(spi: &Connection, job: &Job, error: &str) {
    let sql = format!("update {TABLE} set state = 'failed', error = $2 where id = $1");
    let by_id = job.id;
    spi.run_once(&sql, Snapshot::Latest, &params![by_id, error]);
}
