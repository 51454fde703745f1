//! Statements that create and change tables. Pure. Names are checked slugs; values go through
//! [`crate::value::quote::literal`].

use crate::access::policy_sql;
use crate::attribute_type::{AttributeType, Rules};
use crate::change::key_history::ENDED_KEY;
use crate::template::column as standard;
use crate::template::definition::Definition;
use crate::value::change::Change;
use crate::value::collation::clause;
use crate::value::quote::literal;
use crate::value::standard_column::{ENDS_KEY, KEY_PREDICATE};
use crate::value::table_name::{SideTable, table_sql};
use std::fmt::Write as _;

/// Creates the schema of a project.
pub fn create_schema(slug: &str, name: &str) -> String {
    format!(
        "create schema \"{slug}\"; comment on schema \"{slug}\" is {}; \
         grant usage on schema \"{slug}\" to keyed_admin;",
        literal(name)
    )
}

/// Creates a template's table with its key index, triggers and history. `trigrams` is the operator class of
/// [`crate::search::text::table::trigram_class`].
pub fn create_table(
    project: &str,
    slug: &str,
    id: i32,
    label: Option<&str>,
    attributes: &[NewColumn],
    trigrams: &str,
) -> String {
    let table = table_sql(project, slug);
    let history = SideTable::History.sql(id);
    let mut columns = format!(
        "id uuid primary key default keyed.new_id({id}), \
         external_key text collate \"C\", \
         created_at timestamptz not null default pg_catalog.now(), \
         updated_at timestamptz not null default pg_catalog.now(), \
         deleted_at timestamptz, {released}",
        released = released_key_column(),
    );
    for attribute in attributes {
        let _ = write!(columns, ", {}", column(attribute));
    }
    let mut sql = format!(
        // Free space in every page for HOT updates.
        "create table {table} ({columns}) with (fillfactor = 90); \
         {key_index} \
         create table {history} ( \
           record_id uuid, version integer, at timestamptz not null, actor text not null, source text not null, \
           operation text not null, external_key text collate \"C\", changes jsonb not null, \
           position bigint not null default 0, \
           primary key (record_id, version)); \
         {history_indexes} \
         comment on table {history} is {}; \
         create trigger keyed_guard before insert or update or delete on {table} \
           for each row execute function keyed.guard_record(); \
         create trigger keyed_guard_truncate before truncate on {table} \
           for each statement execute function keyed.guard_truncate(); \
         create trigger keyed_note_history after insert or update or delete on {table} \
           for each row execute function keyed.note_history(); \
         create trigger keyed_write_history after insert or update or delete on {table} \
           for each statement execute function keyed.write_history(); \
         grant select, insert, update, delete on {table} to keyed_admin; \
         grant select on {history} to keyed_admin; \
         comment on table {table} is {}; {} {}",
        literal(&format!(
            "Every change of the records of {project}.{slug}: who, when, from which source, old and new values."
        )),
        literal(label.unwrap_or(slug)),
        secure_table(&table),
        policy_sql::enable_on_side_table(&SideTable::History.name(id), &table),
        key_index = key_index(&table),
        history_indexes =
            history_indexes(id).map(|(name, body)| format!("create index {name} {body};")).join(" "),
    );
    sql.push_str(&comment_on_released_key(&table));
    for (name, comment) in [
        ("id", "The record's own id: a UUID, ordered by time, that carries the number of its template."),
        (
            "external_key",
            "The id that another system uses for this record; unique among live records, 1 to 255 characters. Null while the record is deleted: see _released_key.",
        ),
        ("created_at", "When the record was created."),
        ("updated_at", "When a value of the record last changed."),
        ("deleted_at", "When the record was deleted; null while it is live."),
    ] {
        let _ = write!(sql, " comment on column {table}.{name} is {};", literal(comment));
    }
    for (name, comment) in [
        ("record_id", "The record."),
        ("version", "Counts the changes of a record, from 1."),
        ("at", "When: the time of the transaction."),
        ("actor", "Who: the API key by its label and number, or the login."),
        ("source", "The source of the change: api, app, csv, inbound or sql."),
        ("operation", "create, update, delete, restore or purge."),
        ("external_key", "The key that the record held after the change."),
        ("changes", "What differs: {attribute: {old, new}}."),
        ("position", POSITION),
    ] {
        let _ = write!(sql, " comment on column {history}.{name} is {};", literal(comment));
    }
    for attribute in attributes {
        let _ = write!(sql, " {}", after_column(&table, attribute, trigrams));
    }
    sql
}

/// The comment on the column of positions.
const POSITION: &str = "The position in the feed of changes: the id of the transaction, or the position of the record's previous row if that is greater.";

/// Adds positions to a history of an earlier version. Its existing rows come first in the feed.
pub fn add_position(history: &str) -> String {
    format!(
        "alter table {history} add column position bigint not null default 0; \
         comment on column {history}.position is {};",
        literal(POSITION)
    )
}

/// The indexes of a history other than its primary key: the name, and the statement after the name. The feed of changes
/// uses the first. The second finds the records that had a key, and has entries only for changes that remove a key.
pub fn history_indexes(template: i32) -> [(String, String); 2] {
    let (name, table) = (SideTable::History.name(template), SideTable::History.sql(template));
    [
        (format!("{name}_position"), format!("on {table} (position, record_id, version)")),
        (format!("{name}_ended_key"), format!("on {table} (({ENDED_KEY})) where {ENDS_KEY}")),
    ]
}

/// The column for the key of a deleted record.
pub fn released_key_column() -> String {
    format!("{} text collate \"C\"", standard::RELEASED_KEY)
}

/// The comment on that column.
pub fn comment_on_released_key(table: &str) -> String {
    format!(
        " comment on column {table}.{} is 'Kept by keyed: the external key that a deleted record had; null while it is \
         live. A restore takes it back.';",
        standard::RELEASED_KEY
    )
}

/// The unique index on the keys of live records. A deleted record has released its key.
pub fn key_index(table: &str) -> String {
    format!("create unique index on {table} (external_key) where {KEY_PREDICATE};")
}

/// Enables row-level security on a template's table. The policy of roles with the delete privilege uses the index.
/// Without the trigger, a DELETE that no policy allows would report 0 rows instead of an error.
pub fn secure_table(table: &str) -> String {
    format!(
        "{} create index on {table} (deleted_at) where deleted_at is not null; \
         create trigger keyed_guard_delete before delete on {table} \
           for each statement execute function keyed.guard_delete();",
        policy_sql::enable(table)
    )
}

/// The column of a new attribute.
pub struct NewColumn<'a> {
    /// The definition of the attribute.
    pub definition: &'a Definition,
    /// The table that a reference points to.
    pub target_table: Option<String>,
    /// The collation of a string attribute attribute as an SQL name; empty for the collation of the database.
    pub collation: String,
}

/// The column definition for `create table` and `alter table … add column`.
pub fn column(new: &NewColumn) -> String {
    let definition = new.definition;
    let mut sql = format!("\"{}\" {}", definition.slug, definition.kind.column_type());
    if let Some(default) = &definition.default {
        let _ = write!(sql, " default {}", default_sql(definition, default));
    }
    if definition.required {
        sql.push_str(" not null");
    }
    if let Some(target) = &new.target_table {
        let _ = write!(sql, " references {target} (id)");
    }
    sql
}

/// The comment and the indexes of a column.
pub fn after_column(table: &str, new: &NewColumn, trigrams: &str) -> String {
    let definition = new.definition;
    let mut sql = comment_on_new_column(table, new);
    for index in
        indexes(table, &definition.slug, definition.kind, definition.indexed, &new.collation, trigrams)
    {
        let _ = write!(sql, " {index};");
    }
    sql
}

/// The comment of a new column.
pub fn comment_on_new_column(table: &str, new: &NewColumn) -> String {
    comment_on_column(table, &new.definition.slug, new.definition.label.as_deref())
}

/// The indexes for filters and sorts on an attribute. A reference always has one, for the foreign key.
pub fn indexes(
    table: &str,
    slug: &str,
    kind: AttributeType,
    indexed: bool,
    collation: &str,
    trigrams: &str,
) -> Vec<String> {
    let bodies = index_bodies(table, slug, kind, indexed, collation, trigrams);
    bodies.into_iter().map(|(_, body)| format!("create index {body}")).collect()
}

/// The same without names: the access method, and the part of `create index` after the name.
pub fn index_bodies(
    table: &str,
    slug: &str,
    kind: AttributeType,
    indexed: bool,
    collation: &str,
    trigrams: &str,
) -> Vec<(&'static str, String)> {
    if !indexed && kind != AttributeType::Reference {
        return Vec::new();
    }
    match kind {
        AttributeType::List => vec![("gin", format!("on {table} using gin (\"{slug}\")"))],
        AttributeType::String => vec![
            ("btree", text_index_body(table, slug, collation)),
            ("gin", trigram_index_body(table, slug, trigrams)),
        ],
        _ => vec![("btree", format!("on {table} (\"{slug}\", id)"))],
    }
}

/// The part of `create index` after the name, for a string attribute in a collation. The id column is for keyset
/// pagination among equal values.
pub fn text_index_body(table: &str, slug: &str, collation: &str) -> String {
    format!("on {table} (pg_catalog.left(\"{slug}\", 200){}, id)", clause(collation))
}

/// The name of an index that a job builds concurrently. No slug has this prefix.
pub fn concurrent_index_name(attribute: i32, method: &str) -> String {
    format!("_keyed_{attribute}_{method}")
}

/// Whether a name is the name of such an index.
pub fn is_concurrent_index_name(name: &str) -> bool {
    name.starts_with("_keyed_")
}

/// The trigram index on a string, for operators that match substrings. Its pending list has the same limit as that of
/// documents ([`crate::search::text::write`]).
pub fn trigram_index(table: &str, slug: &str, trigrams: &str) -> String {
    format!("create index {}", trigram_index_body(table, slug, trigrams))
}

fn trigram_index_body(table: &str, slug: &str, trigrams: &str) -> String {
    format!("on {table} using gin (\"{slug}\" {trigrams}) with (gin_pending_list_limit = 1024)")
}

/// The comment on a column, with the label of the attribute.
pub fn comment_on_column(table: &str, slug: &str, label: Option<&str>) -> String {
    format!("comment on column {table}.\"{slug}\" is {};", label.map_or("null".to_owned(), literal))
}

/// A default as an SQL constant of the column's type. The JSON must have been checked.
pub fn default_sql(definition: &Definition, json: &str) -> String {
    let raw: Box<serde_json::value::RawValue> = match serde_json::from_str(json) {
        Ok(raw) => raw,
        Err(_) => return "null".to_owned(),
    };
    let rules = Rules { options: definition.options.as_deref(), ..Rules::default() };
    let sql = match definition.kind.parse(&raw, &rules) {
        Ok(Change::Set(value)) => definition.kind.default_sql(&value),
        _ => None,
    };
    sql.unwrap_or_else(|| "null".to_owned())
}
