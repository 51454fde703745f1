//! Loads a template from the tables of the state and from PostgreSQL's catalog.
//!
//! Keys, grants and definitions are read with the latest snapshot, even if the transaction's snapshot is older. So a
//! revocation takes effect immediately, and a definition matches the columns of the table. An older snapshot only adds the
//! attributes and languages whose strings its documents may still contain.

use super::column_type::{self, Column, Expected};
use super::synonyms::Synonyms;
use super::{Attribute, SeriesTable, Template, column, index, session};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{insert, invalidation, relation, snapshot, transaction};
use crate::value::collation::{Collations, name_in_sql};
use crate::value::list_option;
use crate::value::table_name::SideTable;
use pgrx::pg_sys::Oid;
use std::collections::{BTreeSet, HashMap};

/// Loads the template that satisfies a condition, under a lock on its table.
pub(super) fn load(condition: &str, arguments: &[Parameter]) -> Option<Template> {
    session::require_state();
    session::watch_definitions();
    as_owner(|| {
        connected(|spi| {
            let unlocked = load_row(spi, condition, arguments)?;
            invalidation::watch(unlocked.table);
            relation::lock_for_reading(unlocked.table);
            // Processes invalidation messages that arrived with the lock.
            session::refresh();
            // Read again under the lock, because another session may have changed or dropped the template.
            let template =
                load_row(spi, condition, arguments).filter(|template| template.table == unlocked.table)?;
            let attributes = load_attributes(spi, &template);
            let released_key = load_released_key(spi, &template);
            let history = relation::table_oid("keyed_state", &SideTable::History.name(template.id));
            let history_position = history.and_then(|history| relation::column(history, "position"));
            let (key_index, ended_key_index) = load_key_indexes(spi, template.table, history);
            let series = load_series(template.id, &attributes);
            let has_documents =
                relation::table_oid("keyed_state", &SideTable::Documents.name(template.id)).is_some();
            let vector_schema = vector_schema(spi, template.id);
            let (former_languages, former_attributes) = former(spi, template.id, &attributes);
            let rest = Template { vector_schema, ..template };
            Some(Template::new(Template {
                attributes,
                key_index,
                released_key,
                history,
                history_position,
                ended_key_index,
                series,
                has_documents,
                former_languages,
                former_attributes,
                ..rest
            }))
        })
    })
}

/// Runs a query on definitions with the latest snapshot, even if the transaction's snapshot is older. In a parallel
/// query, PostgreSQL allows no other snapshot.
fn newest<'c>(spi: &'c Connection, sql: &str, arguments: &[Parameter]) -> Rows<'c> {
    if snapshot::is_fixed() && !transaction::is_in_parallel() {
        spi.run_newest_and_own(sql, arguments)
    } else {
        spi.run_once(sql, Snapshot::Latest, arguments)
    }
}

/// The columns of a template, in the order in which [`read_row`] takes them.
pub(super) const COLUMNS: &str = "t.id, t.project_id, p.slug, t.slug, t.label, t.display, t.language, t.created_at, t.updated_at, \
     to_jsonb(t) ->> 'embed', to_jsonb(t) ->> 'synonyms', to_jsonb(t) ->> 'collation'";

/// The template without its attributes.
fn load_row(spi: &Connection, condition: &str, arguments: &[Parameter]) -> Option<Template> {
    let rows = newest(
        spi,
        &format!(
            "select {COLUMNS} from keyed_state.template t join keyed_state.project p on p.id = t.project_id \
             where {condition}"
        ),
        arguments,
    );
    if rows.is_empty() {
        return None;
    }
    let template = read_row(&rows, 0)?;
    let table = relation::table_oid(&template.project_slug, &template.slug)
        .filter(|table| relation::is_trusted_table(*table))?;
    Some(Template { table, ..template })
}

pub(super) fn read_row(rows: &Rows, row: usize) -> Option<Template> {
    let text = |column| rows.get::<Option<String>>(row, column);
    let id = rows.get::<Option<i32>>(row, 0)?;
    Some(Template {
        id_text: id.to_string(),
        id,
        project_id: rows.get(row, 1),
        project_slug: text(2)?,
        slug: text(3)?,
        label: text(4),
        display: text(5),
        language: text(6)?,
        created_at: rows.get(row, 7),
        updated_at: rows.get(row, 8),
        // Read through to_jsonb, because a database that is not migrated lacks these columns.
        embed: text(9).and_then(|ids| serde_json::from_str(&ids).ok()).unwrap_or_default(),
        synonyms: text(10).map(|sets| Synonyms::read(&sets)).unwrap_or_default(),
        collation: text(11),
        ..Template::default()
    })
}

/// Checks the types of all standard columns. Returns the column for the key of a deleted record.
fn load_released_key(spi: &Connection, template: &Template) -> Option<i16> {
    let sql = format!(
        "select a.attnum, a.attname::text, a.atttypid, pg_catalog.format_type(a.atttypid, null) \
         from pg_catalog.pg_attribute a where a.attrelid = $1 and not a.attisdropped \
         and (a.attnum between {} and {} or a.attname = '{}')",
        column::ID,
        column::DELETED_AT,
        column::RELEASED_KEY
    );
    let rows = newest(spi, &sql, &params![template.table]);
    let mut released_key = None;
    for row in 0..rows.len() {
        let (number, name): (i16, String) = (rows.get(row, 0), rows.get(row, 1));
        if let Some(expected) = column_type::of_standard_column(number, &name) {
            let kind_name: String = rows.get(row, 3);
            let found = Column { name: &name, kind: rows.get(row, 2), kind_name: &kind_name };
            column_type::require(template, &found, &expected);
        }
        if name == column::RELEASED_KEY {
            released_key = Some(number);
        }
    }
    released_key
}

/// The index on keys of live records, and that on keys that records no longer have. Each use checks that it still exists.
fn load_key_indexes(spi: &Connection, table: Oid, history: Option<Oid>) -> (Option<Oid>, Option<Oid>) {
    let rows = newest(
        spi,
        "select (select min(i.indexrelid) from pg_catalog.pg_index i where i.indrelid = $1 and i.indisunique \
         and i.indimmediate and i.indnatts = 1 and i.indkey[0] = 2 \
         and coalesce(pg_get_expr(i.indpred, i.indrelid), $2) = any (array[$2, $3])), \
         (select min(i.indexrelid) from pg_catalog.pg_index i where i.indrelid = $4 \
         and pg_get_expr(i.indpred, i.indrelid) = $5)",
        &params![
            table,
            column::KEY_PREDICATE,
            // The predicate in a table that is not migrated.
            "((deleted_at IS NULL) AND (external_key IS NOT NULL))",
            history,
            column::ENDS_KEY
        ],
    );
    (rows.get::<Option<Oid>>(0, 0), rows.get::<Option<Oid>>(0, 1))
}

/// The table of series, for a template with a metric.
fn load_series(template: i32, attributes: &[Attribute]) -> Option<SeriesTable> {
    if attributes.iter().all(|attribute| attribute.kind != AttributeType::Metric) {
        return None;
    }
    let table = relation::table_oid("keyed_state", &SideTable::Series.name(template))?;
    let sequence = insert::identity_sequence(table, SeriesTable::ID)?;
    Some(SeriesTable { table, sequence })
}

fn load_attributes(spi: &Connection, template: &Template) -> Vec<Attribute> {
    let rows = newest(
        spi,
        "select a.id, a.slug, a.type, a.label, a.required, a.indexed, a.options, a.target_id, a.default_value, \
         c.attnum, to_jsonb(a) ->> 'collation', to_jsonb(a) ->> 'format', c.atttypid, pg_catalog.format_type(c.atttypid, null), l.oid \
         from keyed_state.attribute a join pg_catalog.pg_attribute c \
         on c.attrelid = $2 and c.attname = a.slug::pg_catalog.name and not c.attisdropped \
         left join pg_catalog.pg_collation l on c.attcollation <> 0 and l.collnamespace = 'pg_catalog'::regnamespace \
         and l.collname = coalesce(to_jsonb(a) ->> 'collation', $3) || case coalesce(to_jsonb(a) ->> 'collation', $3) \
           when 'C' then '' else '-x-icu' end \
         where a.template_id = $1 order by a.position, a.id",
        &params![template.id, template.table, template.collation.as_deref()],
    );
    let is_indexed_text = |row| {
        let is = |attribute: Attribute| attribute.indexed && attribute.kind == AttributeType::String;
        read_attribute(&rows, row).is_some_and(is)
    };
    let of_indexes = match (0..rows.len()).any(is_indexed_text) {
        true => load_collations_of_indexes(spi, template.table),
        false => HashMap::new(),
    };
    let read = |row| {
        let attribute = read_attribute(&rows, row)?;
        let kind_name: String = rows.get(row, 13);
        let found = Column { name: &attribute.slug, kind: rows.get(row, 12), kind_name: &kind_name };
        let (kind, name) = (attribute.kind.oid(), attribute.kind.column_type());
        column_type::require(template, &found, &Expected { kind, name, collation: "" });
        // A collation that the server lacks is ignored, for example after a restore on a server without ICU.
        let Some(order) = rows.get::<Option<Oid>>(row, 14) else { return Some(attribute) };
        let name = attribute.collation.as_ref().or(template.collation.as_ref());
        let name = name.map(|name| name_in_sql(name)).unwrap_or_default();
        let of_index = of_indexes.get(&attribute.column).map(Vec::as_slice).unwrap_or_default();
        let index = if of_index.contains(&name) { None } else { of_index.first().cloned() };
        let collations = Collations { index: index.unwrap_or_else(|| name.clone()), order: name };
        Some(Attribute { order, collations, ..attribute })
    };
    (0..rows.len()).filter_map(read).collect()
}

/// The collations of the valid B-trees on strings as SQL names, by the number of the column. There may be two after a job
/// has built one with another collation.
fn load_collations_of_indexes(spi: &Connection, table: Oid) -> HashMap<i16, Vec<String>> {
    let rows = newest(
        spi,
        &format!("select i.\"column\", i.\"collation\" from ({}) i where i.is_valid", index::TEXTS),
        &params![table],
    );
    let mut collations: HashMap<i16, Vec<String>> = HashMap::new();
    for (column, collation) in rows.iter::<(i16, String)>() {
        collations.entry(column).or_default().push(collation);
    }
    collations
}

/// The type with this name. An unknown type was created by a newer extension. It is an error, because ignoring the
/// attribute would lose its values in history and on replacement.
fn attribute_type(name: &str) -> AttributeType {
    AttributeType::named(name).unwrap_or_else(|| {
        let message = format!("this version of the extension does not support attributes of type {name}");
        Error::new(Code::Internal, message)
            .hint("Install the version of the extension that created it, or a newer version.")
            .raise()
    })
}

pub(super) fn read_attribute(rows: &Rows, row: usize) -> Option<Attribute> {
    let text = |column| rows.get::<Option<String>>(row, column);
    let options = rows.get::<Option<String>>(row, 6).and_then(|options| {
        let raw: Box<serde_json::value::RawValue> = serde_json::from_str(&options).ok()?;
        list_option::parse(&raw, "").ok().flatten()
    });
    let slug = text(1)?;
    Some(Attribute {
        id: rows.get(row, 0),
        pointer: format!("/attributes/{slug}"),
        slug,
        kind: attribute_type(&text(2)?),
        label: text(3),
        required: rows.get(row, 4),
        indexed: rows.get(row, 5),
        options,
        target: rows.get(row, 7),
        default: rows.get(row, 8),
        column: rows.get(row, 9),
        collation: text(10),
        format: text(11),
        collations: Collations::default(),
        order: Oid::INVALID,
    })
}

/// The schema of pgvector as an SQL identifier, from the table of a template's vectors; `None` without that table.
pub fn vector_schema(spi: &Connection, template: i32) -> Option<String> {
    let table = relation::table_oid("keyed_state", &SideTable::Vectors.name(template))?;
    let rows = spi.run_once(
        "select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_attribute a \
         join pg_catalog.pg_type y on y.oid = a.atttypid join pg_catalog.pg_namespace n on n.oid = y.typnamespace \
         where a.attrelid = $1 and a.attname = 'embedding'",
        Snapshot::Latest,
        &params![table],
    );
    rows.value::<Option<String>>().flatten()
}

/// The former languages and dropped attributes whose values documents may contain until they are rewritten.
fn former(spi: &Connection, template: i32, attributes: &[Attribute]) -> (Vec<String>, Vec<i32>) {
    if relation::table_oid("keyed_state", "job").is_none() {
        return Default::default();
    }
    let by_template = params![template];
    let by_job = "select j.languages, j.dropped from keyed_state.job j where j.template_id = $1 and j.kind = 'documents'";
    // Documents in an older snapshot match the definition of that snapshot.
    let by_snapshot = "select array[t.language], array(select a.id from keyed_state.attribute a where a.template_id = t.id) \
         from keyed_state.template t where t.id = $1";
    let mut found = vec![newest(spi, by_job, &by_template)];
    if snapshot::is_fixed() {
        let of_snapshot = |sql| spi.run_once(sql, Snapshot::Latest, &by_template);
        found.extend([by_job, by_snapshot].map(of_snapshot));
    }
    let (mut languages, mut dropped) = (BTreeSet::new(), BTreeSet::new());
    for rows in found.iter().filter(|rows| !rows.is_empty()) {
        languages.extend(rows.get::<Option<Vec<String>>>(0, 0).unwrap_or_default());
        dropped.extend(rows.get::<Option<Vec<i32>>>(0, 1).unwrap_or_default());
    }
    dropped.retain(|id| attributes.iter().all(|attribute| attribute.id != *id));
    (languages.into_iter().collect(), dropped.into_iter().collect())
}
