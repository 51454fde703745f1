//! The side table with the vectors of records.
//!
//! The table is separate, so that a write of a record updates neither the vector nor the HNSW index, which costs
//! milliseconds. Vectors have storage PLAIN: with TOAST, the default for their size, a scan takes three times as long.
//! The index uses half precision (`halfvec`), which halves its memory. Scores use the full precision of the table.
//!
//! Vectors have length one. The index contains live records only.

use crate::access::policy_sql;
use crate::error::{Code, Error};
use crate::postgres::guard::{as_owner, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::{MAJOR_VERSION, invalidation, table_lock};
use crate::template::load::vector_schema;
use crate::template::{Template, catalog};
use crate::value::quote::literal;
use crate::value::table_name::SideTable;
use crate::value::vector::DIMENSIONS;

/// The name of the extension pgvector.
pub const EXTENSION: &str = "vector";

/// The suffix of the index name.
const INDEX_SUFFIX: &str = "_hnsw";

/// The name of the index.
pub fn index_name(template: i32) -> String {
    format!("{}{INDEX_SUFFIX}", SideTable::Vectors.name(template))
}

/// The statements that create the table of vectors and its index. `schema` is that of pgvector.
pub fn create(schema: &str, template: i32, full_name: &str, records: &str) -> String {
    let table = SideTable::Vectors.sql(template);
    let comment =
        literal(&format!("What each record of {full_name} means, as far as a vector was set for it."));
    // No parallel workers: pgvector before 0.8.2 can write out of bounds in parallel index builds (CVE-2026-3172). As
    // a storage parameter, this applies to every later build, also after a restore.
    format!(
        "create table {table} (record_id uuid primary key, embedding {schema}.vector({DIMENSIONS}) not null \
           constraint has_length_one check ({schema}.vector_norm(embedding) between 0.999 and 1.001), \
           live boolean not null default true) with (parallel_workers = 0); \
         alter table {table} alter column embedding set storage plain; \
         comment on table {table} is {comment}; \
         comment on column {table}.record_id is 'The record.'; \
         comment on column {table}.embedding is 'Its vector, of length one.'; \
         comment on column {table}.live is 'Whether the record is live: the index holds no others.'; {}",
        policy_sql::enable_on_side_table(&SideTable::Vectors.name(template), records)
    ) + &create_index(schema, template)
}

/// `m` and `ef_construction` exceed pgvector's defaults, with which searches missed some clusters of similar vectors.
fn create_index(schema: &str, template: i32) -> String {
    format!(
        "create index {} on {} using hnsw ((embedding::{schema}.halfvec({DIMENSIONS})) {schema}.halfvec_cosine_ops) \
         with (m = 24, ef_construction = 100) where live;",
        index_name(template),
        SideTable::Vectors.sql(template)
    )
}

/// The schema of pgvector as an SQL identifier; `None` without pgvector, or with a version before 0.7.0, which lacks
/// `halfvec`.
pub fn extension_schema(spi: &Connection) -> Option<String> {
    let rows = spi.run_once(
        "select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_extension e \
         join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = $1 \
         and exists (select from pg_catalog.pg_type y where y.typnamespace = n.oid and y.typname = 'halfvec')",
        Snapshot::Latest,
        &params![EXTENSION],
    );
    rows.value::<Option<String>>().flatten()
}

/// Creates missing tables and indexes if pgvector is installed: those of older templates, and indexes dropped for
/// bulk loads.
pub fn create_missing(spi: &Connection) {
    let Some(schema) = extension_schema(spi) else { return };
    let sql = format!(
        "select t.id from keyed_state.template t where {} is null \
         or not exists (select from pg_catalog.pg_attribute a where a.attname = 'embedding' and not a.attisdropped \
           and a.attrelid = {}) order by t.id",
        SideTable::Vectors.regclass_sql(&format!("t.id || '{INDEX_SUFFIX}'")),
        SideTable::Vectors.regclass_sql("t.id")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    let mut ids: Vec<i32> = rows.column::<i32>().collect();
    table_lock::take_chunk(&mut ids, "tables of vectors");
    for template in ids.into_iter().filter_map(catalog::by_id) {
        let table = SideTable::Vectors.sql(template.id);
        if vector_schema(spi, template.id).is_none() {
            let records = template.table_sql();
            // DROP EXTENSION vector CASCADE drops the column, and leaves a table without data.
            let drop = format!("drop table if exists {table}");
            with_settings(&[(c"client_min_messages", c"warning")], || spi.script(&drop));
            spi.script(&create(&schema, template.id, &template.full_name(), &records));
            invalidation::announce(template.table);
        } else if catalog::table_oid("keyed_state", &index_name(template.id)).is_none() {
            spi.script(&create_index(&schema, template.id));
        }
    }
}

/// Filters templates by whether they have vectors. It opens no table.
pub fn filled(templates: &[i32]) -> Vec<i32> {
    as_owner(|| {
        connected(|spi| {
            let sql = format!(
                "select t.id from unnest($1) with ordinality t (id, position) \
                 where pg_relation_size({}) > 0 order by t.position",
                SideTable::Vectors.regclass_sql("t.id")
            );
            spi.run_once(&sql, Snapshot::Active, &params![templates]).column().collect()
        })
    })
}

/// The first of these templates if none of them has a table of vectors.
pub fn first_without(templates: &[i32]) -> Option<i32> {
    let has_table = |id: &i32| as_owner(|| connected(|spi| vector_schema(spi, *id))).is_some();
    if templates.iter().any(has_table) { None } else { templates.first().copied() }
}

/// The schema of pgvector for a template; an error if the template has no table of vectors.
pub fn require(template: &Template) -> Result<&str, Error> {
    template.vector_schema.as_deref().ok_or_else(|| {
        Error::new(
            Code::InvalidValue,
            format!(
                "{} cannot store vectors because pgvector is not installed or is older than 0.7.0",
                template.full_name()
            ),
        )
        .hint(format!(
            "Install pgvector (package postgresql-{MAJOR_VERSION}-pgvector; after an older version, run \
             ALTER EXTENSION vector UPDATE), then run as a superuser: SELECT keyed.init()."
        ))
    })
}
