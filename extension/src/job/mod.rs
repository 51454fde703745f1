//! Jobs: the work on every record that a change of a definition leaves to background workers.
//!
//! A definition changes catalogs only and inserts a job into `keyed_state.job`. Background workers (`job_worker/`) run
//! it: one processes documents and queue entries in portions, each a short transaction that also stores the job's
//! position, so that another worker can continue; one builds indexes concurrently. Jobs take turns, and locked records
//! are retried later, so no job blocks another for long. Jobs are
//! typed: no SQL is stored. Small templates need no job.

/// Records that no other transaction is writing.
pub mod free;
/// The workers.
pub mod workers;

pub use free::{lock_free, uuids};

use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{RegClass, array, params};
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::{invalidation, role, worker};
use crate::template::{Template, catalog};
use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workers::Worker;

/// What a portion came to.
#[derive(Default)]
pub struct Done {
    /// The last record that was looked at; none behind the last of all.
    pub last: Option<Uuid>,
    /// How many were done.
    pub records: usize,
    /// Those that others have locked, and those whose turn is yet to come.
    pub busy: Vec<Uuid>,
    /// Those that cannot be done: their texts are too long.
    pub refused: Vec<Uuid>,
    /// Whether it ended early, because the records were large.
    pub is_heavy: bool,
}

/// The table of jobs.
pub const TABLE: &str = "keyed_state.job";
/// The maximum size of a table whose indexes are built at once, without a job.
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

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<JobKind> {
        [JobKind::Index, JobKind::Documents, JobKind::Embeddings, JobKind::Series]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Whether there are jobs at all: a state not yet migrated has none, and all is done at once.
pub fn exist() -> bool {
    catalog::has_column("keyed_state", "job", "left_out")
}

/// Whether to build an index on this table takes long.
pub fn takes_index_long(spi: &Connection, table: Oid) -> bool {
    let rows =
        spi.run_once("select pg_catalog.pg_relation_size($1)", Snapshot::Latest, &params![RegClass(table)]);
    exist() && rows.value::<i64>().is_some_and(|size| size > SHORT_TABLE)
}

/// Whether a table has too many records to process at once.
pub fn are_many(spi: &Connection, table: &str) -> bool {
    let sql = format!("select count(*) from (select from {table} limit {}) r", FEW_RECORDS + 1);
    let count = spi.run_once(&sql, Snapshot::Latest, &[]);
    exist() && count.value::<i64>().is_some_and(|count| count > FEW_RECORDS)
}

/// Has the indexes of an attribute built once this transaction is committed.
pub fn add_index(spi: &Connection, template: &Template, attribute: i32) {
    add(spi, template, JobKind::Index, Some(attribute), None, &[]);
}

/// Whether an index of documents may be left to a job: the state has been told.
pub fn may_renew_documents(spi: &Connection) -> bool {
    let sql = "select from keyed_state.version where number = 29";
    exist() && !spi.run_once(sql, Snapshot::Latest, &[]).is_empty()
}

/// Has the indexes of the documents and of the history built once this transaction is committed.
pub fn add_indexes_without_attribute(spi: &Connection, template: &Template) {
    add(spi, template, JobKind::Index, None, None, &[]);
}

/// Starts a job that rewrites the documents of a template; until it is done, they may contain stems of the language
/// of `before`, and texts of dropped attributes.
pub fn add_documents(spi: &Connection, before: &Template, dropped: &[i32]) {
    add(spi, before, JobKind::Documents, None, Some(&before.language), dropped);
    // Invalidates the cached definition, which does not know the job yet, in this transaction as well.
    invalidation::announce(before.table);
}

/// Has the records of a template looked at for texts to embed.
pub fn add_embeddings(spi: &Connection, template: &Template) {
    add(spi, template, JobKind::Embeddings, None, None, &[]);
}

/// Has the points of a dropped metric deleted.
pub fn add_series(spi: &Connection, template: &Template, attribute: i32) {
    add(spi, template, JobKind::Series, None, None, &[attribute]);
}

/// An existing job starts again, also a failed one.
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

/// Whether the indexes of an attribute are still to be built.
pub fn has_index(spi: &Connection, attribute: i32) -> bool {
    let by_attribute = params![attribute];
    let sql = "select from keyed_state.job where attribute_id = $1";
    exist() && !spi.run_once(sql, Snapshot::Latest, &by_attribute).is_empty()
}

/// The attribute shall have no index any more.
pub fn forget_index(spi: &Connection, attribute: i32) {
    if exist() {
        let by_attribute = params![attribute];
        spi.run_once("delete from keyed_state.job where attribute_id = $1", Snapshot::Latest, &by_attribute);
    }
}

/// Nothing of the template is embedded any more.
pub fn forget_embeddings(spi: &Connection, template: i32) {
    if exist() {
        let by_template = params![template];
        let sql = "delete from keyed_state.job where template_id = $1 and kind = 'embeddings'";
        spi.run_once(sql, Snapshot::Latest, &by_template);
    }
}

/// Has workers begin once this transaction is committed; as whom they log in says [`worker`].
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

/// Has a worker begin where jobs wait, with those that failed if `retry` says so. Answers how many wait or run.
pub fn start_pending(retry: bool) -> i32 {
    if !exist() || worker::is_standby() {
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
