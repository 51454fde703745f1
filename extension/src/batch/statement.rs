//! The statement that writes many records of one template: its text, and the arrays that are its arguments.

use super::operation::OperationKind;
use crate::access::visibility::{UpsertScopes, and};
use crate::attribute_type::AttributeType;
use crate::postgres::parameter::Parameter;
use crate::record::argument::column_parameter;
use crate::record::statement::differs;
use crate::template::{Attribute, Template};
use crate::value::change::{Change, Changes};
use std::fmt::Write as _;

/// Writes the rows of arrays, one for each column: $1 ids, $2 keys, then the values. Returns id and key of each written
/// row, and whether it is within the write scopes.
pub fn sql(template: &Template, shape: &Changes, kind: OperationKind, write_scopes: &UpsertScopes) -> String {
    let (mut names, mut values) = (String::new(), String::new());
    let (mut updates, mut changed) = (String::new(), String::new());
    for (column, (position, _)) in shape.iter().enumerate() {
        let attribute = &template.attributes[*position];
        let slug = &attribute.slug;
        let or = if column > 0 { " or " } else { "" };
        let _ = write!(names, ", \"{slug}\"");
        let _ = write!(values, ", {}", value(attribute, column));
        let _ = write!(updates, "\"{slug}\" = excluded.\"{slug}\", ");
        let _ = write!(changed, "{or}{}", differs(attribute, &format!("excluded.\"{slug}\"")));
    }
    let action = if kind == OperationKind::Create || shape.is_empty() {
        "nothing".to_owned()
    } else {
        let within = and(write_scopes.update.writable.as_deref());
        format!("update set {updates}updated_at = now() where t.deleted_at is null and ({changed}){within}")
    };
    format!(
        "insert into {} as t (id, external_key{names}) select u.id, u.external_key{values} from {} \
         on conflict (external_key) do {action} returning t.id, t.external_key{}",
        template.table_sql(),
        arrays(shape),
        write_scopes.condition_columns()
    )
}

/// Finds the keys of the live records that [`sql`] would still change, with the same parameters.
pub fn keys_to_change(template: &Template, shape: &Changes) -> String {
    let differs = |(column, (position, _)): (usize, &(usize, Change))| {
        let attribute = &template.attributes[*position];
        differs(attribute, &value(attribute, column))
    };
    let changed: Vec<String> = shape.iter().enumerate().map(differs).collect();
    format!(
        "select t.external_key from {} join {} t on t.external_key = u.external_key and t.deleted_at is null where {}",
        arrays(shape),
        template.table_sql(),
        if changed.is_empty() { "false".to_owned() } else { changed.join(" or ") }
    )
}

/// The arrays as rows `u`.
fn arrays(shape: &Changes) -> String {
    let (mut parameters, mut aliases) = (String::new(), String::new());
    for column in 0..shape.len() {
        let _ = write!(parameters, ", ${}", column + 3);
        let _ = write!(aliases, ", c{column}");
    }
    format!("unnest($1, $2{parameters}) u (id, external_key{aliases})")
}

/// The value of a row of `u` for an attribute.
fn value(attribute: &Attribute, column: usize) -> String {
    let cast = if attribute.kind == AttributeType::List { "::text[]" } else { "" };
    format!("u.c{column}{cast}")
}

/// The values of one column, one for each row, as an array.
pub fn array_argument<'c>(
    kind: AttributeType,
    changes: impl ExactSizeIterator<Item = &'c Change<'c>>,
) -> Parameter {
    let value = |change: &'c Change<'c>| match change {
        Change::Set(value) => Some(value),
        Change::Increment(_) | Change::Append(_) | Change::Keep(..) => None,
    };
    column_parameter(kind, changes.map(value))
}
