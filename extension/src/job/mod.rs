//! Jobs: work on all records after a change of a definition, which background workers do.
//!
//! A change of a definition updates catalogs only and inserts a job into `keyed_state.job`. Background workers
//! (`job_worker/`) run it. One worker processes documents and queue entries in chunks. Each chunk is a short transaction
//! that also stores the position of the job, so that another worker can continue. The other worker builds indexes
//! concurrently. Jobs are scheduled round-robin, and locked records are retried later, so that no job blocks another for
//! long. Jobs are typed: no SQL is stored. Small templates need no job.

use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{RegClass, array, params};
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{invalidation, role, worker};
use crate::template::{Template, catalog};
use pgrx::pg_sys::Oid;
use std::collections::HashSet;
use uuid::Uuid;

/// The result of a chunk.
#[derive(Default)]
pub struct Done {
    /// The last record of the chunk; `None` at the end.
    pub last: Option<Uuid>,
    /// The number of processed records.
    pub records: usize,
    /// Records to retry: locked by other transactions, or not yet processed.
    pub busy: Vec<Uuid>,
    /// Records that cannot be processed, because their values are too long.
    pub rejected: Vec<Uuid>,
    /// Whether the chunk ended early because of large records.
    pub is_heavy: bool,
}

/// The table of jobs.
pub const TABLE: &str = "keyed_state.job";
/// The maximum size of a table whose indexes are built immediately, without a job.
const SHORT_TABLE: i64 = 1 << 20;
/// The maximum number of records that are processed without a job.
pub const FEW_RECORDS: i64 = 5000;

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Builds the indexes of an attribute, or those of the documents and of the history.
    Index,
    /// Rewrites the search documents.
    Documents,
    /// Queues records for embedding.
    Embeddings,
    /// Deletes the series of dropped metrics.
    Series,
}

impl JobKind {
    /// Its name in the state.
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Index => "index",
            JobKind::Documents => "documents",
            JobKind::Embeddings => "embeddings",
            JobKind::Series => "series",
        }
    }

    fn worker(self) -> Worker {
        match self {
            JobKind::Index => Worker::Indexes,
            JobKind::Documents | JobKind::Embeddings | JobKind::Series => Worker::Records,
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<JobKind> {
        [JobKind::Index, JobKind::Documents, JobKind::Embeddings, JobKind::Series]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// The kinds of workers: at most one process of each kind for each database. The embedding worker is not one of them but
/// a task of the proxy (`embedding-worker/src/worker.rs`).
///
/// CREATE INDEX CONCURRENTLY waits for open transactions and blocks its process. So indexes have a separate worker, and
/// other jobs do not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// Runs jobs that process records.
    Records,
    /// Builds indexes.
    Indexes,
}

impl Worker {
    /// All workers.
    pub const ALL: [Worker; 2] = [Worker::Records, Worker::Indexes];

    /// Its argument as a background worker.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The worker with this number; `Records` for an unknown number.
    pub fn by_number(number: u8) -> Worker {
        if number == Worker::Indexes.number() { Worker::Indexes } else { Worker::Records }
    }

    /// The key of the advisory lock that a running worker holds. Keys of jobs are positive.
    pub fn lock_key(self) -> i64 {
        -i64::from(self.number())
    }

    /// The condition on `keyed_state.job` that selects its jobs.
    pub fn jobs(self) -> &'static str {
        match self {
            Worker::Records => "kind <> 'index'",
            Worker::Indexes => "kind = 'index'",
        }
    }
}

/// Whether the table of jobs exists. In a database that is not migrated, definitions do the work themselves.
pub fn table_exists() -> bool {
    catalog::has_column("keyed_state", "job", "left_out")
}

/// Whether an index on this table takes long to build.
pub fn takes_index_long(spi: &Connection, table: Oid) -> bool {
    let rows =
        spi.run_once("select pg_catalog.pg_relation_size($1)", Snapshot::Latest, &params![RegClass(table)]);
    table_exists() && rows.value::<i64>().is_some_and(|size| size > SHORT_TABLE)
}

/// Whether a table has too many records to process immediately.
pub fn are_many(spi: &Connection, table: &str) -> bool {
    let sql = format!("select count(*) from (select from {table} limit {}) r", FEW_RECORDS + 1);
    let count = spi.run_once(&sql, Snapshot::Latest, &[]);
    table_exists() && count.value::<i64>().is_some_and(|count| count > FEW_RECORDS)
}

/// Adds a job that builds the indexes of an attribute after the commit.
pub fn add_index(spi: &Connection, template: &Template, attribute: i32) {
    add(spi, template, JobKind::Index, Some(attribute), None, &[]);
}

/// Whether a job may build the index of documents, which migration 29 allows.
pub fn may_renew_documents(spi: &Connection) -> bool {
    let sql = "select from keyed_state.version where number = 29";
    table_exists() && !spi.run_once(sql, Snapshot::Latest, &[]).is_empty()
}

/// Adds a job that builds the indexes of the documents and of the history after the commit.
pub fn add_indexes_without_attribute(spi: &Connection, template: &Template) {
    add(spi, template, JobKind::Index, None, None, &[]);
}

/// Adds a job that rewrites the documents of a template. Until it is done, documents may contain stems of the language of
/// `before`, and values of dropped attributes.
pub fn add_documents(spi: &Connection, before: &Template, dropped: &[i32]) {
    add(spi, before, JobKind::Documents, None, Some(&before.language), dropped);
    // Invalidates the cached definition, which depends on the job.
    invalidation::announce(before.table);
}

/// Adds a job that queues the records of a template for embedding.
pub fn add_embeddings(spi: &Connection, template: &Template) {
    add(spi, template, JobKind::Embeddings, None, None, &[]);
}

/// Adds a job that deletes the points of a dropped metric.
pub fn add_series(spi: &Connection, template: &Template, attribute: i32) {
    add(spi, template, JobKind::Series, None, None, &[attribute]);
}

/// Adds a job, or restarts an existing or failed one.
fn add(
    spi: &Connection,
    template: &Template,
    kind: JobKind,
    attribute: Option<i32>,
    language: Option<&str>,
    dropped: &[i32],
) {
    spi.run_once(
        "insert into keyed_state.job as j (template_id, kind, attribute_id, languages, dropped, created_at) \
         values ($1, $2, $3, $4, $5, clock_timestamp()) \
         on conflict (template_id, kind, attribute_id) do update set position = null, left_out = '{}', records_done = 0, \
         records = null, state = 'pending', attempts = 0, error = null, created_at = excluded.created_at, \
         started_at = null, dropped = j.dropped || excluded.dropped, \
         languages = array(select distinct u.name from unnest(j.languages || excluded.languages) u (name))",
        Snapshot::Latest,
        &params![template.id, kind.name(), attribute, array(language.into_iter().map(Some)), dropped],
    );
    start(spi, &[kind.worker()]);
}

/// Whether a job to build the indexes of an attribute exists.
pub fn has_index(spi: &Connection, attribute: i32) -> bool {
    let by_attribute = params![attribute];
    let sql = "select from keyed_state.job where attribute_id = $1";
    table_exists() && !spi.run_once(sql, Snapshot::Latest, &by_attribute).is_empty()
}

/// Deletes the index job of an attribute.
pub fn delete_index_job(spi: &Connection, attribute: i32) {
    if table_exists() {
        let by_attribute = params![attribute];
        spi.run_once("delete from keyed_state.job where attribute_id = $1", Snapshot::Latest, &by_attribute);
    }
}

/// Deletes the embedding job of a template.
pub fn delete_embeddings_job(spi: &Connection, template: i32) {
    if table_exists() {
        let by_template = params![template];
        let sql = "delete from keyed_state.job where template_id = $1 and kind = 'embeddings'";
        spi.run_once(sql, Snapshot::Latest, &by_template);
    }
}

/// Starts workers after the commit. [`worker`] describes their role.
fn start(spi: &Connection, workers: &[Worker]) {
    let rows = spi.run_once(
        "select r.oid from pg_catalog.pg_roles r where r.rolname = 'keyed_proxy' and r.rolcanlogin \
         and pg_catalog.has_database_privilege(r.oid, pg_catalog.current_database(), 'connect')",
        Snapshot::Latest,
        &[],
    );
    let proxy = rows.value::<Option<Oid>>().flatten();
    for kind in workers {
        worker::start_at_commit(kind.number(), proxy.unwrap_or_else(role::authenticated));
    }
}

/// Starts workers for pending jobs, and with `retry` for failed ones. Returns the number of pending and running jobs.
pub fn start_pending(retry: bool) -> i32 {
    if !table_exists() || worker::is_standby() {
        return 0;
    }
    as_owner(|| {
        connected(|spi| {
            if retry {
                spi.script(&format!(
                    "update {TABLE} set state = 'pending', attempts = 0 where state = 'failed'"
                ));
            }
            let mut total = 0;
            for worker in Worker::ALL {
                let jobs = worker.jobs();
                let sql = format!("select count(*)::integer from {TABLE} where state = 'pending' and {jobs}");
                let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
                let count = rows.get::<Option<i32>>(0, 0).unwrap_or_default();
                if count > 0 {
                    start(spi, &[worker]);
                }
                total += count;
            }
            total
        })
    })
}

/// Locks the rows of these live records in a side table, and skips locked rows. For a record without a row it locks the
/// record itself, so that it is not deleted concurrently. It never waits, so it cannot deadlock. Returns the records that
/// it locked and those that are busy.
pub fn lock_free(
    spi: &Connection,
    records: &str,
    side_table: &str,
    requested: &[Uuid],
) -> (HashSet<Uuid>, Vec<Uuid>) {
    without_waiting(|| lock(spi, records, side_table, requested))
        .unwrap_or_else(|| (HashSet::new(), requested.to_vec()))
}

fn lock(spi: &Connection, records: &str, side_table: &str, requested: &[Uuid]) -> (HashSet<Uuid>, Vec<Uuid>) {
    let select = |sql: &str, some: &[Uuid]| uuids(&spi.run_once(sql, Snapshot::Latest, &params![some]));
    let sql = format!(
        "select s.record_id from {side_table} s where s.record_id = any ($1) for no key update skip locked"
    );
    let mut locked: HashSet<Uuid> = select(&sql, requested).into_iter().collect();
    let missing = |locked: &HashSet<Uuid>| -> Vec<Uuid> {
        requested.iter().filter(|id| !locked.contains(id)).copied().collect()
    };
    let remaining = missing(&locked);
    if remaining.is_empty() {
        return (locked, remaining);
    }
    let sql = format!("select s.record_id from {side_table} s where s.record_id = any ($1)");
    let with_row: HashSet<Uuid> = select(&sql, &remaining).into_iter().collect();
    let without_row: Vec<Uuid> = remaining.into_iter().filter(|id| !with_row.contains(id)).collect();
    if !without_row.is_empty() {
        let sql = format!("select t.id from {records} t where t.id = any ($1) for share skip locked");
        locked.extend(select(&sql, &without_row));
    }
    let busy = missing(&locked);
    (locked, busy)
}

/// The ids in the first column.
pub fn uuids(rows: &Rows) -> Vec<Uuid> {
    rows.column::<Uuid>().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_lock_keys_are_distinct_and_differ_from_jobs() {
        for worker in Worker::ALL {
            assert_eq!(Worker::by_number(worker.number()), worker);
            assert!(worker.lock_key() <= 0);
        }
        assert_ne!(Worker::Records.lock_key(), Worker::Indexes.lock_key());
    }
}
