//! Jobs that do something for each record: some records at a time, each time in a transaction of its own.

use super::run::Job;
use super::{Kind, TABLE};
use crate::embedding::queue;
use crate::postgres::guard::Caught;
use crate::postgres::spi::{Access, Connection, connected};
use crate::postgres::{datum, invalidation, worker};
use crate::search::text;
use crate::template::catalog;
use pgrx::pg_sys::{self, Datum};
use uuid::Uuid;

/// What a portion came to.
pub struct Done {
    /// The last record that is done; none when all are.
    pub last: Option<Uuid>,
    /// How many were done.
    pub records: usize,
}

/// Does what is left of a job, and forgets it.
pub(super) fn run(job: &Job) -> Result<(), Box<Caught>> {
    worker::transaction(|| connected(|spi| count(spi, job)))?;
    while worker::transaction(|| connected(|spi| portion(spi, job)))? {}
    Ok(())
}

/// Counts the records, for whoever asks how far the job is.
fn count(spi: &Connection, job: &Job) {
    let Some(template) = catalog::by_id(job.template) else { return };
    let sql = format!(
        "update {TABLE} set records = (select count(*) from {} t where t.deleted_at is null) \
         where id = $1 and records is null",
        template.table_sql()
    );
    spi.run_once(&sql, Access::Latest, &[(pg_sys::INT8OID, Some(Datum::from(job.id)))]);
}

/// Does some records; answers whether there are more.
fn portion(spi: &Connection, job: &Job) -> bool {
    catalog::refresh();
    // Nobody changes the definition, nor has the job begin anew by it, while this transaction has looked the template up.
    let by_id = (pg_sys::INT8OID, Some(Datum::from(job.id)));
    let Some(template) = catalog::by_id(job.template) else {
        // With a template its jobs are gone, too; one that is there without a table of ours was not made by us.
        let sql =
            format!("update {TABLE} set state = 'failed', error = 'its template has no table' where id = $1");
        spi.run_once(&sql, Access::Latest, &[by_id]);
        return false;
    };
    let sql = format!("select position from {TABLE} where id = $1 for update");
    let rows = spi.run_once(&sql, Access::Latest, &[by_id]);
    if rows.is_empty() {
        return false;
    }
    let after = rows.get(0, 0).map_or(Uuid::nil(), datum::read_uuid);
    let done = match job.kind {
        Kind::Documents => text::rebuild::portion(spi, &template, after),
        Kind::Embeddings => queue::definition::portion(spi, &template, after),
        Kind::Index => return false,
    };
    match done.last {
        Some(last) => {
            let sql =
                format!("update {TABLE} set position = $2, records_done = records_done + $3 where id = $1");
            let count = Datum::from(done.records as i64);
            let position = (pg_sys::UUIDOID, datum::uuid(last));
            spi.run_once(&sql, Access::Latest, &[by_id, position, (pg_sys::INT8OID, Some(count))]);
        }
        None => {
            spi.run_once(&format!("delete from {TABLE} where id = $1"), Access::Latest, &[by_id]);
            // Searches ask for stems of this language alone from now on.
            invalidation::announce(template.table);
        }
    }
    done.last.is_some()
}
