//! The side table with the search documents of live records.
//!
//! It is separate so that a write that changes no text updates no text index, and the record table stays simple for
//! readers.
//!
//! A document (a row of `keyed_state.text_N`) has the folded strings and the stems of a record under one trigram index.
//! The history triggers write it, and only when a text changes.

use crate::access::policy_sql;
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::Template;
use crate::value::quote::literal;
use crate::value::table_name::{STATE, SideTable};

/// The extension of the trigram index.
pub const TRIGRAM_EXTENSION: &str = "pg_trgm";

/// The operator classes of the index of documents, best first. The last one is from the first release.
pub(super) const DOCUMENT_CLASSES: [&str; 2] = ["document_words", "document_trigrams"];

/// Creates the side table of documents, without its index.
pub fn create(template: i32, full_name: &str, records: &str) -> String {
    let table = SideTable::Documents.sql(template);
    let comment = literal(&format!("What is searched of each live record of {full_name}."));
    format!(
        "create table {table} (record_id uuid primary key, document text collate \"C\" not null); \
         comment on table {table} is {comment}; \
         comment on column {table}.record_id is 'The record.'; \
         comment on column {table}.document is 'Its key, texts and list labels without case and accents, and their stems.'; {}",
        policy_sql::enable_on_side_table(&SideTable::Documents.name(template), records)
    )
}

/// Creates its index. [`super::write`] limits its pending list.
pub fn create_index(spi: &Connection, template: i32) -> String {
    format!(
        "create index {} on {} using gin (document {});",
        index_name(template),
        SideTable::Documents.sql(template),
        document_class(spi)
    )
}

/// The operator class of documents. If the SQL of the extension is older than this library, a slower one that documents
/// support too.
fn document_class(spi: &Connection) -> String {
    document_class_name(spi).map_or_else(|| trigram_class(spi), |name| format!("keyed.{name}"))
}

/// The best operator class of documents in the SQL of the extension.
pub fn document_class_name(spi: &Connection) -> Option<&'static str> {
    let sql = "select c.opcname::text from pg_catalog.pg_opclass c \
               where c.opcnamespace = 'keyed'::pg_catalog.regnamespace";
    let rows = spi.run_once(sql, Snapshot::Latest, &[]);
    let names: Vec<String> = rows.column::<String>().collect();
    DOCUMENT_CLASSES.into_iter().find(|class| names.iter().any(|name| name == class))
}

/// Drops its index.
pub fn drop_index(template: i32) -> String {
    format!("drop index if exists {};", index_sql(template))
}

/// Its index.
pub fn index_sql(template: i32) -> String {
    format!("{STATE}.{}", index_name(template))
}

/// The suffix of the name of its index, after the name of its table.
pub(super) const INDEX_ENDING: &str = "_trigram";

/// The name of its index in the schema of the state.
pub fn index_name(template: i32) -> String {
    format!("{}{INDEX_ENDING}", SideTable::Documents.name(template))
}

/// The operator class of trigrams, in the schema of its extension.
pub fn trigram_class(spi: &Connection) -> String {
    let rows = spi.run_once(
        "select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_opclass c \
         join pg_catalog.pg_namespace n on n.oid = c.opcnamespace \
         join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_opclass'::pg_catalog.regclass and d.objid = c.oid \
         join pg_catalog.pg_extension e on e.oid = d.refobjid and d.deptype = 'e' \
         where c.opcname = 'gin_trgm_ops' and e.extname = $1",
        Snapshot::Latest,
        &params![TRIGRAM_EXTENSION],
    );
    if rows.is_empty() {
        missing().raise();
    }
    format!("{}.gin_trgm_ops", rows.get::<Option<String>>(0, 0).unwrap_or_default())
}

/// The error for a template that is older than search documents.
pub fn not_migrated(template: &Template) -> Error {
    Error::new(Code::Internal, format!("{} cannot be searched yet", template.full_name()))
        .hint("Run SELECT keyed.migrate().")
}

/// The error for a database without pg_trgm.
pub fn missing() -> Error {
    Error::new(Code::Internal, "trigram indexes need the extension pg_trgm, which is not in this database")
        .hint("Run as a superuser: SELECT keyed.init(), or CREATE EXTENSION pg_trgm.")
}
