//! Rebuilds documents of many records, after a change of a definition, and for templates of older versions.

use super::needle::literal;
use super::{document, table, write};
use crate::access::Caller;
use crate::access::dependent::Dependent;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::job::{self, Done, lock_free, uuids};
use crate::postgres::guard::as_owner;
use crate::postgres::invalidation;
use crate::postgres::parameter::params;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::lock_against_writers;
use crate::template::{Attribute, Template, catalog};
use crate::value::table_name::SideTable;
use std::fmt::Write as _;
use uuid::Uuid;

/// The number of rows that are read together.
const CHUNK: usize = 1000;
/// The size of text after which a chunk of a job ends, so that other jobs run within about a second.
const CHUNK_BYTES: i64 = 4 << 20;

/// The documents of records.
pub struct Documents;

impl Dependent for Documents {
    /// Writes few documents in the same transaction, many by a job.
    fn after_change(
        &self,
        spi: &Connection,
        _caller: &Caller,
        before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        if !after.has_documents {
            return Ok(());
        }
        let is_gone =
            |old: &&Attribute| write::is_covered(old) && after.attributes.iter().all(|new| new.id != old.id);
        let dropped: Vec<i32> = before.attributes.iter().filter(is_gone).map(|old| old.id).collect();
        let changed = changed_rows(before, after);
        if dropped.is_empty() && changed.is_none() {
            return Ok(());
        }
        if job::are_many(spi, &after.table_sql()) {
            job::add_documents(spi, before, &dropped);
            return Ok(());
        }
        for attribute in dropped {
            strip(spi, after, attribute);
        }
        if let Some(condition) = changed {
            write_all(spi, after, &condition);
        }
        Ok(())
    }
}

/// Rewrites outdated documents of a template; those of many records, and locked ones, by a job.
pub fn rebuild(template: &Template) -> Result<(), Error> {
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    as_owner(|| {
        connected(|spi| {
            if job::are_many(spi, &template.table_sql()) {
                job::add_documents(spi, template, &[]);
                return Ok(());
            }
            let mut busy = Vec::new();
            let mut next = Some(Uuid::nil());
            while let Some(after) = next {
                let done = rewrite_chunk(spi, template, after);
                if let Some(message) = write::too_long_message(&done.rejected) {
                    return Err(Error::new(Code::PayloadTooLarge, message));
                }
                busy.extend(done.busy);
                next = done.last;
            }
            if busy.is_empty() {
                note_version(spi, template.id);
                return Ok(());
            }
            if !job::table_exists() {
                let message = format!("{} records are locked by other transactions", busy.len());
                return Err(
                    Error::new(Code::Conflict, message).hint("Retry after these transactions have ended.")
                );
            }
            job::add_documents(spi, template, &[]);
            Ok(())
        })
    })
}

/// Records that all documents of a template have the stems of this version of PostgreSQL.
pub fn note_version(spi: &Connection, template: i32) {
    // A database that is not migrated lacks this column.
    if catalog::has_column("keyed_state", "template", "documents_by") {
        let sql = "update keyed_state.template set documents_by = default where id = $1";
        spi.run_once(sql, Snapshot::Latest, &params![template]);
    }
}

/// Rewrites the documents of some records after this one, in order of ids, and deletes those of records that are not
/// live.
///
/// Records are written concurrently. A writer updates the document after the record, in the same transaction. So this
/// locks the document first and reads the record afterwards: the writes of earlier writers are visible, and later writers
/// wait and overwrite. Locked documents are skipped.
pub fn rewrite_chunk(spi: &Connection, template: &Template, after: Uuid) -> Done {
    let records = format!(
        "(select t.*, t.id as _place from {} t where t.deleted_at is null and t.id > $1 order by t.id limit {CHUNK})",
        template.table_sql()
    );
    let sql = up_to_bytes(template, &records);
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![after]);
    let live = uuids(&rows);
    let total = if rows.is_empty() { 0 } else { rows.get::<Option<i64>>(0, 1).unwrap_or_default() as usize };
    let is_heavy = live.len() < total;
    let last = live.last().copied().filter(|_| is_heavy || total == CHUNK);
    let sql = format!(
        "select d.record_id from {} d where d.record_id > $1 and d.record_id <= $2 and d.record_id <> all ($3) \
         for no key update skip locked",
        SideTable::Documents.sql(template.id)
    );
    let arguments = params![after, last.unwrap_or(Uuid::max()), &live];
    let others =
        without_waiting(|| uuids(&spi.run_once(&sql, Snapshot::Latest, &arguments))).unwrap_or_default();
    let (free, busy) = lock_free(spi, &template.table_sql(), &SideTable::Documents.sql(template.id), &live);
    let rejected = rewrite(template, free.into_iter().chain(others).collect());
    Done { last, records: live.len() - busy.len() - rejected.len(), busy, rejected, is_heavy }
}

/// The first of some records in their order, up to the one whose text exceeds the bytes of a chunk, and the total number.
/// The length of a long value is known without reading it.
fn up_to_bytes(template: &Template, records: &str) -> String {
    let mut bytes = "0".to_owned();
    for attribute in template.attributes.iter().filter(|attribute| write::is_covered(attribute)) {
        let length = match attribute.kind {
            AttributeType::String => "octet_length",
            _ => "pg_column_size",
        };
        let _ = write!(bytes, " + coalesce({length}(r.\"{}\"), 0)", attribute.slug);
    }
    format!(
        "select r.id, r.total from (select r.id, r._place, count(*) over () as total, \
           sum(r.bytes) over (order by r._place) - r.bytes as bytes_before \
           from (select r.id, r._place, {bytes} as bytes from {records} r) r) r \
         where r.bytes_before <= {CHUNK_BYTES} order by r._place"
    )
}

/// The same for skipped records, in this order, until some are written. Returns the remaining records,
/// untried ones first.
pub fn some(spi: &Connection, template: &Template, records: &[Uuid]) -> Done {
    let documents = SideTable::Documents.sql(template.id);
    let sql =
        format!("select t.id from {} t where t.deleted_at is null and t.id = any ($1)", template.table_sql());
    let live = uuids(&spi.run_once(&sql, Snapshot::Latest, &params![records]));
    let sql = format!(
        "select d.record_id from {documents} d where d.record_id = any ($1) and d.record_id <> all ($2) \
         for no key update skip locked",
    );
    let arguments = params![records, &live];
    let others =
        without_waiting(|| uuids(&spi.run_once(&sql, Snapshot::Latest, &arguments))).unwrap_or_default();
    rewrite(template, others);
    let (free, busy) = lock_free(spi, &template.table_sql(), &documents, &live);
    let mut waiting: Vec<Uuid> = records.iter().filter(|id| free.contains(id)).copied().collect();
    let among = format!(
        "(select t.*, u._place from unnest($1) with ordinality u (id, _place) join {} t on t.id = u.id)",
        template.table_sql()
    );
    let sql = up_to_bytes(template, &among);
    let (mut written, mut rejected) = (0, Vec::new());
    while written == 0 && !waiting.is_empty() {
        let some = uuids(&spi.run_once(&sql, Snapshot::Latest, &params![&waiting]));
        if some.is_empty() {
            // These records were removed.
            waiting.clear();
            break;
        }
        let too_long = rewrite(template, some.clone());
        written = some.len() - too_long.len();
        waiting.retain(|id| !some.contains(id));
        rejected.extend(too_long);
    }
    let is_heavy = !waiting.is_empty();
    waiting.extend(busy);
    Done {
        last: None,
        records: records.len() - waiting.len() - rejected.len(),
        busy: waiting,
        rejected,
        is_heavy,
    }
}

/// Writes the documents of these locked records. Returns the records whose documents would be too long.
fn rewrite(template: &Template, mut records: Vec<Uuid>) -> Vec<Uuid> {
    records.sort_unstable();
    if records.is_empty() { records } else { write::rewrite(template, &records) }
}

/// Creates and fills the table of documents of every template that is older than documents.
pub fn make_missing(spi: &Connection) {
    let sql = format!(
        "select t.id from keyed_state.template t where {} is null order by t.id",
        SideTable::Documents.regclass_sql("t.id")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    let ids: Vec<i32> = rows.column::<i32>().collect();
    for template in ids.into_iter().filter_map(catalog::by_id).filter(|template| !template.has_documents) {
        // No record may be written after it is read and before the documents are announced.
        lock_against_writers(&[template.table_sql()]);
        spi.script(&table::create(template.id, &template.full_name(), &template.table_sql()));
        write_all(spi, &template, "true");
        spi.script(&table::create_index(spi, template.id));
        invalidation::announce(template.table);
    }
}

/// The condition for records whose documents a change of a definition affects; `None` if it affects
/// none.
fn changed_rows(before: &Template, after: &Template) -> Option<String> {
    if before.language != after.language {
        return Some("true".to_owned());
    }
    let mut conditions = Vec::new();
    let names = [before.name_attribute(), after.name_attribute()];
    for attribute in after.attributes.iter().filter(|attribute| write::is_covered(attribute)) {
        let old = before.attributes.iter().find(|old| old.id == attribute.id);
        let is_changed = match old {
            // A new column has values only if it has a default.
            None => attribute.default.is_some(),
            // The name of the record has a fingerprint.
            Some(_) if names[0] != names[1] && names.contains(&Some(attribute.id)) => true,
            Some(old) => attribute.kind == AttributeType::List && old.options != attribute.options,
        };
        if is_changed {
            conditions.push(format!("t.\"{}\" is not null", attribute.slug));
        }
    }
    (!conditions.is_empty()).then(|| conditions.join(" or "))
}

/// Removes the field of a dropped attribute from documents.
fn strip(spi: &Connection, template: &Template, attribute: i32) {
    let start = document::field_start(Some(attribute));
    let field = literal(&format!("{start}[^{}]*", document::FIELD));
    spi.script(&format!(
        "update {} d set document = regexp_replace(d.document, {field}, '') where strpos(d.document, {}) > 0",
        SideTable::Documents.sql(template.id),
        literal(&start)
    ));
}

fn write_all(spi: &Connection, template: &Template, condition: &str) {
    let plan = spi.prepare(
        &format!(
            "select {} from {} t where t.deleted_at is null and ({condition}) and t.id > $1 \
             order by t.id limit {CHUNK}",
            write::columns(template),
            template.table_sql()
        ),
        &params![Uuid::nil()],
    );
    let mut last = Uuid::nil();
    loop {
        // A connection of its own for each chunk frees the rows.
        let count = connected(|spi| {
            let rows = spi.run(&plan, Snapshot::Latest, &params![last]);
            write::write_rows(template, &rows);
            if let Some(id) = rows.column::<Uuid>().next_back() {
                last = id;
            }
            rows.len()
        });
        if count < CHUNK {
            return;
        }
    }
}
