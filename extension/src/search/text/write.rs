//! Documents, written from the rows of their records.

use super::document::{self, Field};
use super::stem::Stemmer;
use super::table;
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::guard::with_settings;
use crate::postgres::in_scratch_memory;
use crate::postgres::spi::{Access, Connection, Rows};
use crate::template::definition::Kind;
use crate::template::{Attribute, Template};
use pgrx::pg_sys;
use std::collections::HashSet;
use std::ffi::CStr;
use std::fmt::Write as _;
use uuid::Uuid;

/// The most bytes of one document. Texts longer than a document can hold would silently not be found: the write of
/// such a record is refused instead.
const LONGEST_DOCUMENT: usize = 32 << 20;
/// Documents are written in portions of about this many bytes, so that memory stays flat.
const PORTION_BYTES: usize = 4 << 20;

/// Whether an attribute is a part of the document.
pub fn is_covered(attribute: &Attribute) -> bool {
    matches!(attribute.kind, Kind::String | Kind::List)
}

/// The columns that documents are made of: id, key, then what [`is_covered`].
pub fn columns(template: &Template) -> String {
    let mut sql = "t.id, t.external_key".to_owned();
    for attribute in template.attributes.iter().filter(|attribute| is_covered(attribute)) {
        let _ = write!(sql, ", t.\"{}\"", attribute.slug);
    }
    sql
}

/// How many kilobytes of index entries may wait. GIN collects them in a list, because those of many documents go in
/// together for a part of what they cost one by one; but every search reads the list. Measured with 500,000 records,
/// microseconds of processor time for a new record and for a changed text: 820 and 1,830 without a list, 680 and 1,400
/// with 64 kB, 300 and 900 with 1 MB, where a search takes half a millisecond longer for each look into the index while
/// the list is full. The default of 4 MB saves little more. A batch leaves no list behind.
const FEW_PENDING: &CStr = c"1024";
const BATCH_PENDING: &CStr = c"65536";
/// From how many records on a write is a batch.
const BATCH: usize = 50;

/// Writes the documents of these records as their rows are now; those that are not live have none.
pub fn refresh(spi: &Connection, template: &Template, records: &[Uuid]) {
    let is_batch = records.len() >= BATCH;
    let pending = if is_batch { BATCH_PENDING } else { FEW_PENDING };
    with_settings(&[(c"gin_pending_list_limit", pending)], || refresh_with(spi, template, records));
    if is_batch {
        let sql = format!("select gin_clean_pending_list(to_regclass('{}'))", table::index_sql(template.id));
        let plan = template.plan(&sql, Vec::new);
        spi.run(&plan, Access::Latest, &[]);
    }
}

fn refresh_with(spi: &Connection, template: &Template, records: &[Uuid]) {
    let sql = format!(
        "select {} from {} t where t.id = any ($1) and t.deleted_at is null",
        columns(template),
        template.table_sql()
    );
    let plan = template.plan(&sql, || vec![pg_sys::UUIDARRAYOID]);
    let rows = spi.run(&plan, Access::Latest, &[ids(records)]);
    let live = write_rows(spi, template, &rows);
    if live.len() == records.len() {
        return;
    }
    let gone: Vec<Uuid> = records.iter().copied().filter(|record| !live.contains(record)).collect();
    if !gone.is_empty() {
        let sql = format!("delete from {} d where d.record_id = any ($1)", table::table_sql(template.id));
        let plan = template.plan(&sql, || vec![pg_sys::UUIDARRAYOID]);
        spi.run(&plan, Access::Latest, &[ids(&gone)]);
    }
}

/// Writes the documents of rows with [`columns`]; answers their ids.
pub fn write_rows(spi: &Connection, template: &Template, rows: &Rows) -> HashSet<Uuid> {
    let stemmer = Stemmer::new(template);
    let mut written = HashSet::with_capacity(rows.len());
    let (mut records, mut documents, mut bytes) = (Vec::new(), Vec::new(), 0);
    for row in 0..rows.len() {
        let Some(record) = rows.get(row, 0).map(datum::read_uuid) else { continue };
        let document = in_scratch_memory(|| document_of(template, &stemmer, rows, row));
        bytes += document.len();
        records.push(record);
        documents.push(document);
        written.insert(record);
        if bytes > PORTION_BYTES {
            in_scratch_memory(|| put(spi, template, &records, &documents));
            (records, documents, bytes) = (Vec::new(), Vec::new(), 0);
        }
    }
    if !records.is_empty() {
        in_scratch_memory(|| put(spi, template, &records, &documents));
    }
    written
}

/// A document that is there already as it would be written is left alone, and with it its index entries.
fn put(spi: &Connection, template: &Template, records: &[Uuid], documents: &[String]) {
    let sql = format!(
        "insert into {} as d (record_id, document) select * from unnest($1, $2) \
         on conflict (record_id) do update set document = excluded.document \
         where d.document <> excluded.document",
        table::table_sql(template.id)
    );
    let plan = template.plan(&sql, || vec![pg_sys::UUIDARRAYOID, pg_sys::TEXTARRAYOID]);
    let documents = datum::text_array(documents.iter().map(|document| Some(document.as_str())));
    spi.run(&plan, Access::Latest, &[ids(records), documents]);
}

fn ids(records: &[Uuid]) -> datum::Argument {
    datum::array_of(records.iter().map(|record| datum::uuid(*record)).collect(), pg_sys::UUIDOID)
}

fn document_of(template: &Template, stemmer: &Stemmer, rows: &Rows, row: usize) -> String {
    let mut out = String::new();
    let mut write = |attribute: Option<i32>, values: Vec<&str>| {
        document::write_field(&mut out, &Field { attribute, values }, &mut |text| stemmer.stems(text));
        if out.len() > LONGEST_DOCUMENT {
            let message = format!("the texts of one record can have {} MiB together", LONGEST_DOCUMENT >> 20);
            Error::at(Code::PayloadTooLarge, "/attributes", message).raise();
        }
    };
    if let Some(key) = rows.get(row, 1) {
        datum::with_text(key, |key| write(None, vec![key]));
    }
    let covered = template.attributes.iter().filter(|attribute| is_covered(attribute));
    for (position, attribute) in covered.enumerate() {
        let Some(value) = rows.get(row, position + 2) else { continue };
        if attribute.kind == Kind::String {
            datum::with_text(value, |text| write(Some(attribute.id), vec![text]));
        } else {
            let elements = datum::read_text_array(value).unwrap_or_default();
            write(Some(attribute.id), elements.iter().map(|element| attribute.label_of(element)).collect());
        }
    }
    out
}
