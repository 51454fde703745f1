//! Documents of many records: when a definition changes, and for templates older than their documents.

use super::needle::literal;
use super::{document, table, write};
use crate::error::Error;
use crate::job::{self, Done};
use crate::postgres::guard::{as_owner, with_settings};
use crate::postgres::spi::{Access, Connection, Rows, connected};
use crate::postgres::table_lock::{lock_exclusively, take_portion};
use crate::postgres::{datum, invalidation};
use crate::template::definition::Kind;
use crate::template::{Attribute, Template, catalog};
use pgrx::pg_sys;
use std::collections::HashSet;
use uuid::Uuid;

/// Rows are read in portions of this many.
const PORTION: usize = 1000;
/// More documents than this are written faster without the index, which is then made anew.
const FEW: i64 = 5000;

/// Makes the documents follow a change of the template's definition: few in the same transaction, many by a job.
pub fn follow(spi: &Connection, before: &Template, after: &Template) {
    if !after.has_documents {
        return;
    }
    let dropped = before
        .attributes
        .iter()
        .filter(|old| write::is_covered(old) && after.attributes.iter().all(|new| new.id != old.id));
    for attribute in dropped {
        strip(spi, after, attribute);
    }
    if let Some(condition) = changed_rows(before, after) {
        let rows = format!("from {} t where t.deleted_at is null and ({condition})", after.table_sql());
        if job::are_many(spi, &rows) {
            job::add_documents(spi, before);
        } else {
            in_bulk(spi, after, &rows, || write_all(spi, after, &condition));
        }
    }
}

/// Writes the documents of a template anew where they differ from what its records say; those of many records by a job.
pub fn rebuild(template: &Template) -> Result<(), Error> {
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    as_owner(|| {
        connected(|spi| {
            let rows = format!("from {} t where t.deleted_at is null", template.table_sql());
            if job::are_many(spi, &rows) {
                job::add_documents(spi, template);
                return;
            }
            let mut done = portion(spi, template, Uuid::nil());
            while let Some(last) = done.last {
                done = portion(spi, template, last);
            }
        });
    });
    Ok(())
}

/// Writes the documents of some records anew, of those that come after one in the order of their ids, and takes away what
/// belongs to no live record.
///
/// Others write meanwhile. Who writes a record writes its document later in the same transaction, so whoever has locked the
/// document and reads the record after that writes nothing that is older than what is there: a writer who is ahead is seen,
/// and one who is behind waits for us and then overwrites. The first document is waited for while nothing is held, the others
/// are not waited for: where one is locked the portion ends, and the next begins with it. So nobody waits in a circle.
pub fn portion(spi: &Connection, template: &Template, after: Uuid) -> Done {
    let (records, documents) = (template.table_sql(), table::table_sql(template.id));
    let by_bound = (pg_sys::UUIDOID, datum::uuid(after));
    let sql = format!(
        "select t.id from {records} t where t.deleted_at is null and t.id > $1 order by t.id limit {PORTION}"
    );
    let mut live = ids(&spi.run_once(&sql, Access::Latest, &[by_bound]));
    let select = |sql: &str, some: &[Uuid]| {
        ids(&spi.run_once(sql, Access::Latest, &[(pg_sys::UUIDARRAYOID, write::ids(some))]))
    };
    // Of a record without a document the record itself is locked, so that nobody deletes it before there is one.
    let lock_document =
        format!("select d.record_id from {documents} d where d.record_id = any ($1) for no key update");
    let lock_record = format!("select t.id from {records} t where t.id = any ($1) for share");
    let mut locked = Vec::new();
    if let Some(first) = live.first()
        && select(&lock_document, &[*first]).is_empty()
    {
        locked = select(&lock_record, &[*first]);
    }
    let mut end = live.last().copied().filter(|_| live.len() == PORTION);
    let sql = format!(
        "select d.record_id from {documents} d where d.record_id > $1 and d.record_id <= $2 \
         for no key update skip locked"
    );
    let bounds = [by_bound, (pg_sys::UUIDOID, datum::uuid(end.unwrap_or(Uuid::max())))];
    locked.extend(ids(&spi.run_once(&sql, Access::Latest, &bounds)));
    let others = |locked: &[Uuid]| -> Vec<Uuid> {
        let locked: HashSet<&Uuid> = locked.iter().collect();
        live.iter().filter(|id| !locked.contains(id)).copied().collect()
    };
    let left = others(&locked);
    if !left.is_empty() {
        let with_document =
            select(&format!("select d.record_id from {documents} d where d.record_id = any ($1)"), &left);
        let without: Vec<Uuid> = left.into_iter().filter(|id| !with_document.contains(id)).collect();
        locked.extend(select(&format!("{lock_record} skip locked"), &without));
    }
    if let Some(busy) = others(&locked).first().copied() {
        let position = live.partition_point(|id| *id < busy);
        // Where it is the first, it is gone.
        end = Some(if position == 0 { busy } else { live[position - 1] });
        locked.retain(|id| *id < busy);
        live.truncate(position);
    }
    locked.sort_unstable();
    locked.dedup();
    write::rewrite(template, &locked);
    Done { last: end, records: live.len() }
}

fn ids(rows: &Rows) -> Vec<Uuid> {
    (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_uuid)).collect()
}

/// Makes and fills the table of documents of every template that has none: those made before there were any.
pub fn make_missing(spi: &Connection) {
    let sql = "select t.id from keyed_state.template t \
               where pg_catalog.to_regclass('keyed_state.text_' || t.id) is null order by t.id";
    let rows = spi.run_once(sql, Access::Latest, &[]);
    let ids: Vec<i32> = (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)).collect();
    for template in ids.into_iter().filter_map(catalog::by_id).filter(|template| !template.has_documents) {
        // Nobody writes a record between the reading of it and the announcement that documents are kept.
        spi.script(&format!("lock table {} in share row exclusive mode", template.table_sql()));
        spi.script(&table::create(template.id, &template.full_name(), &template.table_sql()));
        write_all(spi, &template, "true");
        spi.script(&table::create_index(spi, template.id));
        invalidation::announce(template.table);
    }
}

/// Makes the index of documents wherever there is none, or one of another operator class. Meanwhile nobody else reads
/// or writes these documents.
pub fn renew_indexes(spi: &Connection) {
    if !table::has_document_class(spi) {
        return;
    }
    let sql = "select t.id from keyed_state.template t \
               where pg_catalog.to_regclass('keyed_state.text_' || t.id) is not null and not exists ( \
                 select from pg_catalog.pg_index i join pg_catalog.pg_opclass c on c.oid = i.indclass[0] \
                 where i.indexrelid = pg_catalog.to_regclass('keyed_state.text_' || t.id || '_trigram') \
                   and c.opcname = 'document_trigrams') order by t.id";
    let rows = spi.run_once(sql, Access::Latest, &[]);
    let mut ids: Vec<i32> = (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)).collect();
    take_portion(&mut ids, "indexes of documents");
    lock_exclusively(&ids.iter().map(|id| table::table_sql(*id)).collect::<Vec<_>>());
    for id in ids {
        // That there is none is nothing to tell about.
        with_settings(&[(c"client_min_messages", c"warning")], || spi.script(&table::drop_index(id)));
        spi.script(&table::create_index(spi, id));
    }
}

/// The rows whose documents a change of definition changes, as a condition; none where it changes none.
fn changed_rows(before: &Template, after: &Template) -> Option<String> {
    if before.language != after.language {
        return Some("true".to_owned());
    }
    let mut conditions = Vec::new();
    for attribute in after.attributes.iter().filter(|attribute| write::is_covered(attribute)) {
        let old = before.attributes.iter().find(|old| old.id == attribute.id);
        let is_changed = match old {
            // A new column has values where it has a default.
            None => attribute.default.is_some(),
            Some(old) => attribute.kind == Kind::List && old.options != attribute.options,
        };
        if is_changed {
            conditions.push(format!("t.\"{}\" is not null", attribute.slug));
        }
    }
    (!conditions.is_empty()).then(|| conditions.join(" or "))
}

/// Takes the field of an attribute that is gone out of the documents.
fn strip(spi: &Connection, template: &Template, attribute: &Attribute) {
    let table = table::table_sql(template.id);
    let start = document::field_start(Some(attribute.id));
    let rows = format!("from {table} d where strpos(d.document, {}) > 0", literal(&start));
    let field = literal(&format!("{start}[^{}]*", document::FIELD));
    in_bulk(spi, template, &rows, || {
        spi.script(&format!(
            "update {table} d set document = regexp_replace(d.document, {field}, '') \
             where strpos(d.document, {}) > 0",
            literal(&start)
        ));
    });
}

/// Runs a change of documents; of many with the index out of the way.
fn in_bulk(spi: &Connection, template: &Template, rows: &str, change: impl FnOnce()) {
    let count = spi.run_once(
        &format!("select count(*) from (select {rows} limit {}) r", FEW + 1),
        Access::Latest,
        &[],
    );
    let are_many = count.get(0, 0).is_some_and(|count| datum::read_i64(count) > FEW);
    if are_many {
        spi.script(&table::drop_index(template.id));
    }
    change();
    if are_many {
        spi.script(&table::create_index(spi, template.id));
    }
}

fn write_all(spi: &Connection, template: &Template, condition: &str) {
    let plan = spi.prepare(
        &format!(
            "select {} from {} t where t.deleted_at is null and ({condition}) and t.id > $1 \
             order by t.id limit {PORTION}",
            write::columns(template),
            template.table_sql()
        ),
        &[pg_sys::UUIDOID],
    );
    let mut last = Uuid::nil();
    loop {
        // A connection of its own for each portion frees what it read.
        let count = connected(|spi| {
            let rows = spi.run(&plan, Access::Latest, &[datum::uuid(last)]);
            write::write_rows(spi, template, &rows, |_| false);
            if let Some(id) = rows.len().checked_sub(1).and_then(|row| rows.get(row, 0)) {
                last = datum::read_uuid(id);
            }
            rows.len()
        });
        if count < PORTION {
            return;
        }
    }
}
