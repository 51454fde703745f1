//! Whether a record has changed since a position, so that it may have been in another state when it was read.

use super::followed::Following;
use crate::value::quote::literal;
use crate::value::table_name::SideTable;
use std::collections::BTreeSet;

/// The condition that a record of a template (by its id), under an alias, was deleted, restored, or changed in a field that
/// scopes use, at or after the position of an expression.
pub fn condition(following: &Following, template: i32, alias: &str, since: &str) -> String {
    let fields = fields(following, template);
    let is_touched = if fields.contains("updated_at") {
        "h.operation <> 'create'".to_owned()
    } else {
        let names: Vec<String> = fields.iter().map(|name| literal(name)).collect();
        format!(
            "(h.operation in ('delete', 'restore', 'purge') or h.operation = 'update' and h.changes ?| array[{}]::text[])",
            names.join(", ")
        )
    };
    format!(
        "exists (select from {} h where h.record_id = {alias}.id and h.position >= {since} and {is_touched})",
        SideTable::History.sql(template)
    )
}

/// The fields of a template that scopes use.
pub fn fields(following: &Following, template: i32) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    for followed in &following.templates {
        let behind = followed.behind.iter().filter(|behind| behind.template() == template);
        fields.extend(behind.map(|behind| behind.field.clone()));
        if followed.template.id == template {
            fields.extend(followed.uses.attributes.iter().cloned());
            fields.extend(followed.uses.external_key.then(|| "external_key".to_owned()));
            fields.extend(followed.uses.updated_at.then(|| "updated_at".to_owned()));
        }
    }
    fields
}
