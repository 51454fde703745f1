//! Writes documents from the rows of their records.

use super::document::{self, Field};
use super::stem::Stemmer;
use super::table;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::insert::{insert_rows, lock_table};
use crate::postgres::memory::in_scratch;
use crate::postgres::parameter::{array, params};
use crate::postgres::raise::Raise;
use crate::postgres::session_settings::with_gin_pending_list_limit;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::trigger::Row;
use crate::postgres::update::replace_row;
use crate::template::{Attribute, Template, catalog, column};
use crate::value::table_name::SideTable;
use pgrx::pg_sys::Datum;
use std::collections::HashSet;
use std::fmt::Write as _;
use uuid::Uuid;

/// The maximum size of a document. A truncated document would silently miss matches, so the write is
/// rejected.
const MAX_DOCUMENT: usize = 32 << 20;
/// Documents are written in chunks of about this number of bytes, to limit memory.
const CHUNK_BYTES: usize = 4 << 20;

/// Whether an attribute is a part of the document.
pub fn is_covered(attribute: &Attribute) -> bool {
    attribute.kind.is_text()
}

/// The columns that documents are made of: id, key, then the attributes for which [`is_covered`] is
/// true.
pub fn columns(template: &Template) -> String {
    let mut sql = "t.id, t.external_key".to_owned();
    for attribute in template.attributes.iter().filter(|attribute| is_covered(attribute)) {
        let _ = write!(sql, ", t.\"{}\"", attribute.slug);
    }
    sql
}

/// The maximum size of the pending list of the index, in kilobytes. GIN collects entries in this list, because inserting the
/// entries of many documents together costs less. But every search reads the list. With 500,000 records, a new record and a
/// changed text took 820 and 1,830 µs of CPU time without a list, 680 and 1,400 µs with 64 kB, 300 and 900 µs with 1 MB.
/// With a full list of 1 MB, an index lookup takes 0.5 ms longer. The default of 4 MB saves little more. A batch ends with
/// an empty list.
const FEW_PENDING: i32 = 1024;
const BATCH_PENDING: i32 = 65536;
/// The minimum number of records of a batch.
const BATCH: usize = 50;
/// The number of bytes of documents after which a batch inserts its pending entries into the index. With more entries, each
/// costs less, but the list is longer for concurrent searches: with 500, 1,000, 2,000, 4,000 or 8,000 short documents, each
/// took 10.6, 9.0, 6.3, 6.3 or 5.4 µs.
const CLEANED_BYTES: usize = 640 << 10;
/// The number of records that are read together.
const READ_AT_ONCE: usize = 1000;

/// A record whose document is outdated.
#[derive(Clone, Copy)]
pub struct Stale {
    /// Its id.
    pub record: Uuid,
    /// Whether it has no document yet.
    pub is_fresh: bool,
}

/// Writes the documents of these records from their current rows. Records that are not live have no
/// document.
pub fn refresh(template: &Template, records: &[Stale]) {
    let is_batch = records.len() >= BATCH;
    let pending = if is_batch { BATCH_PENDING } else { FEW_PENDING };
    let mut uncleaned = 0;
    for chunk in records.chunks(READ_AT_ONCE) {
        pgrx::check_for_interrupts!();
        with_gin_pending_list_limit(pending, || {
            let written = connected(|spi| refresh_some(spi, template, chunk));
            reject(&written.too_long);
            uncleaned += written.bytes;
        });
        if is_batch && uncleaned >= CLEANED_BYTES {
            clean(template);
            uncleaned = 0;
        }
    }
    if is_batch && uncleaned > 0 {
        clean(template);
    }
}

/// A record and its document.
pub type Written = (Uuid, String);

/// The document of the live row of a trigger; `None` if it would be too long.
pub fn compose(template: &Template, row: &Row) -> Option<String> {
    let stemmer = Stemmer::new(template);
    document_of(template, &stemmer, row.get(column::EXTERNAL_KEY), |_, attribute| row.get(attribute.column))
}

/// Writes [composed](compose) documents. `fresh` are those of records without a document.
pub fn store(template: &Template, fresh: Vec<Written>, others: Vec<Written>) {
    with_gin_pending_list_limit(FEW_PENDING, || put(template, fresh, others));
}

/// Writes the documents of these records, in order, as [`refresh`] does for a batch. The caller has locked the documents,
/// so the rows of earlier writers are visible. Returns the records whose documents would be too long; their documents
/// stay unchanged.
pub fn rewrite(template: &Template, records: &[Uuid]) -> Vec<Uuid> {
    let stale: Vec<Stale> = records.iter().map(|record| Stale { record: *record, is_fresh: false }).collect();
    let mut too_long = Vec::new();
    with_gin_pending_list_limit(BATCH_PENDING, || {
        for chunk in stale.chunks(READ_AT_ONCE) {
            too_long.append(&mut connected(|spi| refresh_some(spi, template, chunk)).too_long);
        }
    });
    clean(template);
    too_long
}

/// The message about a record whose document is too long.
fn too_long() -> String {
    format!("the text of a record is limited to {} MiB in total", MAX_DOCUMENT >> 20)
}

/// The message about records whose documents [`rewrite`] has not changed.
pub fn too_long_message(records: &[Uuid]) -> Option<String> {
    let (first, others) = records.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    Some(format!("record {first}{others} keeps its previous search document: {}", too_long()))
}

/// Rejects a write of records whose documents would be too long.
fn reject(records: &[Uuid]) {
    if !records.is_empty() {
        Error::at(Code::PayloadTooLarge, "/attributes", too_long()).raise();
    }
}

/// Inserts the pending entries into the index.
fn clean(template: &Template) {
    let sql = format!("select gin_clean_pending_list(to_regclass('{}'))", table::index_sql(template.id));
    connected(|spi| {
        template.run(spi, &sql, Snapshot::Latest, &[]);
    });
}

fn refresh_some(spi: &Connection, template: &Template, records: &[Stale]) -> Outcome {
    let sql = format!(
        "select {} from {} t where t.id = any ($1) and t.deleted_at is null",
        columns(template),
        template.table_sql()
    );
    let all: Vec<Uuid> = records.iter().map(|stale| stale.record).collect();
    let rows = template.run(spi, &sql, Snapshot::Latest, &params![&all]);
    // They are ordered by id.
    let is_fresh = |record: Uuid| {
        let place = records.binary_search_by_key(&record, |stale| stale.record);
        place.is_ok_and(|place| records[place].is_fresh)
    };
    let outcome = put_rows(template, &rows, is_fresh);
    if outcome.live.len() == records.len() {
        return outcome;
    }
    let gone: Vec<Uuid> = all.into_iter().filter(|record| !outcome.live.contains(record)).collect();
    if !gone.is_empty() {
        let sql =
            format!("delete from {} d where d.record_id = any ($1)", SideTable::Documents.sql(template.id));
        template.run(spi, &sql, Snapshot::Latest, &params![gone]);
    }
    outcome
}

/// The outcome of writing some rows.
struct Outcome {
    /// Their ids.
    live: HashSet<Uuid>,
    /// The size of the written documents in bytes.
    bytes: usize,
    /// The records whose documents would be too long.
    too_long: Vec<Uuid>,
}

/// Writes the documents of rows with [`columns`].
pub fn write_rows(template: &Template, rows: &Rows) {
    reject(&put_rows(template, rows, |_| false).too_long);
}

/// The same, without documents that would be too long. `is_fresh` returns which records have no
/// document yet.
fn put_rows(template: &Template, rows: &Rows, is_fresh: impl Fn(Uuid) -> bool) -> Outcome {
    let stemmer = Stemmer::new(template);
    let mut outcome = Outcome { live: HashSet::with_capacity(rows.len()), bytes: 0, too_long: Vec::new() };
    let (mut fresh, mut others, mut bytes) = (Vec::new(), Vec::new(), 0);
    for row in 0..rows.len() {
        let Some(record) = rows.get::<Option<Uuid>>(row, 0) else { continue };
        outcome.live.insert(record);
        let Some(document) = in_scratch(|| {
            document_of(template, &stemmer, rows.datum(row, 1), |place, _| rows.datum(row, place + 2))
        }) else {
            outcome.too_long.push(record);
            continue;
        };
        bytes += document.len();
        if is_fresh(record) { &mut fresh } else { &mut others }.push((record, document));
        if bytes > CHUNK_BYTES {
            put(template, std::mem::take(&mut fresh), std::mem::take(&mut others));
            (bytes, outcome.bytes) = (0, outcome.bytes + bytes);
        }
    }
    put(template, fresh, others);
    outcome.bytes += bytes;
    outcome
}

fn put(template: &Template, fresh: Vec<Written>, mut others: Vec<Written>) {
    in_scratch(|| {
        if !fresh.is_empty() && insert(template, &fresh).is_none() {
            others.extend(fresh);
        }
        match others.as_slice() {
            [] => {}
            [one] if replace(template, one).is_some() => {}
            _ => put_by_statement(template, &others),
        }
    });
}

/// Inserts documents without a statement; `None` if the table was altered.
fn insert(template: &Template, documents: &[Written]) -> Option<()> {
    let table = catalog::table_oid("keyed_state", &SideTable::Documents.name(template.id))?;
    lock_table(table);
    insert_rows(table, documents.iter().map(|(record, document)| (*record, document.as_str()))).ok()
}

/// Replaces a document without a statement; `None` if there is no document, or the table was
/// altered.
fn replace(template: &Template, (record, document): &Written) -> Option<()> {
    let table = catalog::table_oid("keyed_state", &SideTable::Documents.name(template.id))?;
    lock_table(table);
    replace_row(table, *record, &(*record, document.as_str())).ok()
}

/// An unchanged document is not written, nor are its index entries.
fn put_by_statement(template: &Template, documents: &[Written]) {
    let sql = format!(
        "insert into {} as d (record_id, document) select * from unnest($1, $2) \
         on conflict (record_id) do update set document = excluded.document \
         where d.document <> excluded.document",
        SideTable::Documents.sql(template.id)
    );
    let records = array(documents.iter().map(|document| document.0));
    let documents = array(documents.iter().map(|document| document.1.as_str()));
    connected(|spi| {
        template.run(spi, &sql, Snapshot::Latest, &[records, documents]);
    });
}

/// The document of a row, from its key and its values of covered attributes, with their positions; `None` if it would be too
/// long.
fn document_of(
    template: &Template,
    stemmer: &Stemmer,
    key: Option<Datum>,
    value_of: impl Fn(usize, &Attribute) -> Option<Datum>,
) -> Option<String> {
    let mut out = String::new();
    let name = template.name_attribute();
    let mut write = |attribute: Option<i32>, values: Vec<&str>| {
        if out.len() <= MAX_DOCUMENT {
            let field = Field { attribute, values, is_title: attribute.is_none() || attribute == name };
            document::write_field(&mut out, &field, &mut |text| stemmer.stems(text));
        }
    };
    if let Some(key) = key {
        datum::with_text(key, |key| write(None, vec![key]));
    }
    let covered = template.attributes.iter().filter(|attribute| is_covered(attribute));
    for (place, attribute) in covered.enumerate() {
        let Some(value) = value_of(place, attribute) else { continue };
        if attribute.kind == AttributeType::String {
            datum::with_text(value, |text| write(Some(attribute.id), vec![text]));
        } else {
            let elements = datum::read_text_array(value).unwrap_or_default();
            write(Some(attribute.id), elements.iter().map(|element| attribute.label_of(element)).collect());
        }
    }
    (out.len() <= MAX_DOCUMENT).then_some(out)
}
