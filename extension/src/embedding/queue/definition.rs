//! What a change of a template's definition means for its records, in the same transaction.

use super::{TABLE, exists};
use crate::embedding;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, Connection, connected};
use crate::template::Template;
use crate::template::definition::Kind;

/// Makes the queue follow a change of definition.
pub fn follow(spi: &Connection, before: &Template, after: &Template) {
    if after.embed.is_empty() {
        if !before.embed.is_empty() {
            // What was embedded stays, and what it was made of is remembered in case embedding is switched on again.
            let sql = format!("delete from {TABLE} where template_id = {} and state <> 'done'", after.id);
            spi.script(&sql);
        }
        return;
    }
    if before.embed != after.embed || says_lists_otherwise(before, after) {
        enqueue(
            spi,
            after,
            "update set state = 'pending', due_at = now(), claim = null, attempts = 0, error = null, failed_at = null \
             where not j.by_hand",
        );
    }
}

/// Forgets all records of a template that are gone at once.
pub fn forget(template: i32) {
    if exists() {
        as_owner(|| {
            connected(|spi| spi.script(&format!("delete from {TABLE} where template_id = {template}")));
        });
    }
}

/// Whether the labels of a list that is embedded changed: they are what is read of it.
fn says_lists_otherwise(before: &Template, after: &Template) -> bool {
    after.embedded().filter(|attribute| attribute.kind == Kind::List).any(|attribute| {
        let old = before.attributes.iter().find(|old| old.id == attribute.id);
        old.is_none_or(|old| old.options != attribute.options)
    })
}

/// Has the texts of all live records looked at; those that are as they were when they were embedded are not sent. A
/// vector of which nothing is known here was set by somebody, and is left alone. `known` says what becomes of the entries
/// that are there.
pub fn enqueue(spi: &Connection, template: &Template, known: &str) {
    let (id, table) = (template.id, template.table_sql());
    let has_vector = match template.vector_schema {
        Some(_) => {
            format!("exists (select from {} v where v.record_id = t.id)", embedding::table::table_sql(id))
        }
        None => "false".to_owned(),
    };
    spi.run_once(
        &format!(
            "insert into {TABLE} as j (record_id, template_id, state, by_hand) \
             select t.id, {id}, case when {has_vector} then 'done' else 'pending' end, {has_vector} \
             from {table} t where t.deleted_at is null order by t.id \
             on conflict (record_id) do {known}"
        ),
        Access::Latest,
        &[],
    );
}
