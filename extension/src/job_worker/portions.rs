//! Jobs over all records: a portion at a time, each in its own transaction.
//!
//! Locked records are skipped, noted, and processed at the end.

use super::job::{Job, brief, note_start};
use super::turns::Outcome;
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

/// So many portions are a turn.
const TURN: usize = 4;
/// The maximum number of skipped records before a job waits for some of them.
const MOST_LEFT_OUT: usize = 1000;
/// For how long a definition that is not yet committed is waited for.
const PATIENCE: &CStr = c"50ms";

/// One turn of a job.
pub(crate) fn run(job: &Job) -> Result<Outcome, Box<Caught>> {
    if !brief(|| note_start(job))? {
        return Ok(Outcome::Over);
    }
    brief(|| connected(|spi| count(spi, job)))?;
    for _ in 0..TURN {
        match brief(|| connected(|spi| portion(spi, job)))? {
            Outcome::More => {}
            outcome => return Ok(outcome),
        }
    }
    Ok(Outcome::More)
}

/// The template of a job. This lookup locks its definition for the transaction.
fn template_of(job: &Job) -> Option<std::rc::Rc<Template>> {
    catalog::refresh();
    with_settings(&[(c"lock_timeout", PATIENCE)], || catalog::by_id(job.template))
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

/// Does some records.
fn portion(spi: &Connection, job: &Job) -> Outcome {
    let by_id = job.id;
    let Some(template) = template_of(job) else {
        // Dropping a template deletes its jobs; one without a table of keyed was not created by keyed.
        fail(spi, job, "its template has no table");
        return Outcome::Over;
    };
    let sql = format!("select position, left_out, dropped from {TABLE} where id = $1 for update nowait");
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![by_id]);
    if rows.is_empty() {
        return Outcome::Over;
    }
    let position = rows.get::<Option<Uuid>>(0, 0).unwrap_or_default();
    let left_out = rows.get::<Option<Vec<Uuid>>>(0, 1).unwrap_or_default();
    // Records with too long texts are skipped, too: they may have changed by the end.
    let note = |position: Uuid, done: &Done, left_out: &[Uuid]| {
        let sql = format!(
            "update {TABLE} set position = $2, records_done = records_done + $3, left_out = $4, \
             error = coalesce($5, error) where id = $1"
        );
        let count = done.records as i64;
        let error = text::write::refusal(&done.refused);
        spi.run_once(&sql, Snapshot::Latest, &params![by_id, position, count, left_out, error]);
        if done.is_heavy { Outcome::Much } else { Outcome::More }
    };
    // Behind the last record of all.
    let end = Uuid::max();
    if left_out.len() >= MOST_LEFT_OUT || position == end && !left_out.is_empty() {
        let done = match job.kind {
            JobKind::Documents => text::rebuild::some(spi, &template, &left_out),
            JobKind::Embeddings => queue::definition::some(spi, &template, &left_out),
            JobKind::Index | JobKind::Series => return Outcome::Over,
        };
        if done.records == 0 && done.busy.is_empty() {
            fail(spi, job, &text::write::refusal(&done.refused).unwrap_or_default());
            return Outcome::Over;
        }
        if done.records == 0 {
            return Outcome::Held;
        }
        return note(position, &done, &[&*done.busy, &*done.refused].concat());
    }
    if position == end {
        // A job that a restart interrupted may have begun with the dictionaries of another version.
        let sql = format!(
            "delete from {TABLE} where id = $1 returning started_at > pg_catalog.pg_postmaster_start_time()"
        );
        let is_whole = spi.run_once(&sql, Snapshot::Latest, &params![by_id]).value::<Option<bool>>();
        if job.kind == JobKind::Documents && is_whole.flatten().unwrap_or_default() {
            text::rebuild::note_version(spi, template.id);
        }
        // Searches ask for stems of this language alone from now on.
        invalidation::announce(template.table);
        return Outcome::Over;
    }
    let done = match job.kind {
        JobKind::Documents => text::rebuild::portion(spi, &template, position),
        JobKind::Embeddings => queue::definition::chunk(spi, &template, position),
        JobKind::Series => {
            let dropped = rows.get::<Option<Vec<i32>>>(0, 2).unwrap_or_default();
            metric::removal::chunk(spi, &template, &dropped, position)
        }
        JobKind::Index => return Outcome::Over,
    };
    note(done.last.unwrap_or(end), &done, &[&*left_out, &*done.busy, &*done.refused].concat())
}

/// The job fails until the cause is removed.
fn fail(spi: &Connection, job: &Job, error: &str) {
    let sql = format!("update {TABLE} set state = 'failed', error = $2 where id = $1");
    let by_id = job.id;
    spi.run_once(&sql, Snapshot::Latest, &params![by_id, error]);
}
