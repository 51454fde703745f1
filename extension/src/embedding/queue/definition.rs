//! Updates the queue when a template's definition changes, in the same transaction.

use super::{TABLE, exists};
use crate::access::Caller;
use crate::access::dependent::Dependent;
use crate::attribute_type::AttributeType;
use crate::error::Error;
use crate::job;
use crate::job::{Done, lock_free, uuids};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;
use crate::value::table_name::SideTable;
use uuid::Uuid;

/// The number of records in a chunk of a job.
const CHUNK: usize = 5000;

/// The embedding queue.
pub struct Queue;

impl Dependent for Queue {
    fn after_change(
        &self,
        spi: &Connection,
        _caller: &Caller,
        before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        if after.embed.is_empty() {
            if !before.embed.is_empty() {
                // Keeps vectors and text hashes, in case embedding is enabled again.
                let sql = format!("delete from {TABLE} where template_id = {} and state <> 'done'", after.id);
                spi.script(&sql);
                job::delete_embeddings_job(spi, after.id);
            }
            return Ok(());
        }
        if before.embed != after.embed || has_new_labels(before, after) {
            if job::are_many(spi, &after.table_sql()) {
                job::add_embeddings(spi, after);
            } else {
                enqueue(spi, after, MAKE_PENDING);
            }
        }
        Ok(())
    }

    fn after_removal(&self, _spi: &Connection, template: &Template) {
        forget(template.id);
    }
}

/// Makes existing entries pending, unless a caller set the vector or the record is being deleted.
const MAKE_PENDING: &str = "update set state = 'pending', due_at = now(), claim = null, attempts = 0, error = null, \
                    failed_at = null where not j.by_hand and j.state <> 'deleted'";

/// Queues a chunk of records, those with ids greater than `after`.
pub fn chunk(spi: &Connection, template: &Template, after: Uuid) -> Done {
    let sql = format!(
        "select t.id from {} t where t.deleted_at is null and t.id > $1 order by t.id limit {CHUNK}",
        template.table_sql()
    );
    let by_bound = after;
    let live = match template.embed.is_empty() {
        true => Vec::new(),
        false => uuids(&spi.run_once(&sql, Snapshot::Latest, &params![by_bound])),
    };
    let busy = enqueue_free(spi, template, &live);
    let last = live.last().copied().filter(|_| live.len() == CHUNK);
    Done { last, records: live.len() - busy.len(), busy, ..Done::default() }
}

/// Like [`chunk`], for records that were skipped. Records that are still locked are skipped again.
pub fn some(spi: &Connection, template: &Template, records: &[Uuid]) -> Done {
    if template.embed.is_empty() {
        return Done { records: records.len(), ..Done::default() };
    }
    let sql =
        format!("select t.id from {} t where t.deleted_at is null and t.id = any ($1)", template.table_sql());
    let live = uuids(&spi.run_once(&sql, Snapshot::Latest, &params![records]));
    let busy = enqueue_free(spi, template, &live);
    Done { records: records.len() - busy.len(), busy, ..Done::default() }
}

fn enqueue_free(spi: &Connection, template: &Template, live: &[Uuid]) -> Vec<Uuid> {
    if live.is_empty() {
        return Vec::new();
    }
    let (free, busy) = lock_free(spi, &template.table_sql(), TABLE, live);
    let free: Vec<Uuid> = free.into_iter().collect();
    spi.run_once(&enqueuing(template, "and t.id = any ($1)", MAKE_PENDING), Snapshot::Latest, &params![free]);
    busy
}

/// Deletes the entries of all records of a dropped template.
pub fn forget(template: i32) {
    if exists() {
        as_owner(|| {
            connected(|spi| spi.script(&format!("delete from {TABLE} where template_id = {template}")));
        });
    }
}

/// Whether labels of an embedded list changed. The text contains labels.
fn has_new_labels(before: &Template, after: &Template) -> bool {
    after.embedded().filter(|attribute| attribute.kind == AttributeType::List).any(|attribute| {
        let old = before.attributes.iter().find(|old| old.id == attribute.id);
        old.is_none_or(|old| old.options != attribute.options)
    })
}

/// Queues all live records. A worker does not embed text again that has not changed. A vector without an entry was set by a
/// caller and remains. `known` is the action for existing entries.
pub fn enqueue(spi: &Connection, template: &Template, known: &str) {
    spi.run_once(&enqueuing(template, "", known), Snapshot::Latest, &[]);
}

fn enqueuing(template: &Template, condition: &str, known: &str) -> String {
    let (id, table) = (template.id, template.table_sql());
    let has_vector = match template.vector_schema {
        Some(_) => {
            format!("exists (select from {} v where v.record_id = t.id)", SideTable::Vectors.sql(id))
        }
        None => "false".to_owned(),
    };
    format!(
        "insert into {TABLE} as j (record_id, template_id, state, by_hand) \
         select t.id, {id}, case when {has_vector} then 'done' else 'pending' end, {has_vector} \
         from {table} t where t.deleted_at is null {condition} order by t.id on conflict (record_id) do {known}"
    )
}
