//! The statement that writes many records of one template: text, and the arrays that are its arguments.

use super::operation::OperationKind;
use crate::access::visibility::{UpsertScopes, and};
use crate::attribute_type::AttributeType;
use crate::postgres::parameter::Parameter;
use crate::record::argument::column_parameter;
use crate::record::statement::differs;
use crate::template::Template;
use crate::value::change::{Change, Changes};
use std::fmt::Write as _;

/// Writes the rows of arrays, one for each column: $1 ids, $2 keys, then the values. Returns id and key of each row
/// written, and what the write scopes say of it.
pub fn sql(template: &Template, shape: &Changes, kind: OperationKind, write_scopes: &UpsertScopes) -> String {
    let (mut names, mut values, mut parameters, mut aliases) =
        (String::new(), String::new(), String::new(), String::new());
    let (mut updates, mut changed) = (String::new(), String::new());
    for (column, (position, _)) in shape.iter().enumerate() {
        let attribute = &template.attributes[*position];
        let slug = &attribute.slug;
        let cast = if attribute.kind == AttributeType::List { "::text[]" } else { "" };
        let or = if column > 0 { " or " } else { "" };
        let _ = write!(names, ", \"{slug}\"");
        let _ = write!(values, ", u.c{column}{cast}");
        let _ = write!(parameters, ", ${}", column + 3);
        let _ = write!(aliases, ", c{column}");
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
        "insert into {} as t (id, external_key{names}) select u.id, u.external_key{values} \
         from unnest($1, $2{parameters}) u (id, external_key{aliases}) \
         on conflict (external_key) do {action} returning t.id, t.external_key{}",
        template.table_sql(),
        write_scopes.condition_columns()
    )
}

/// The values of one column, one for each row, as an array.
pub fn array_argument<'c>(
    kind: AttributeType,
    changes: impl ExactSizeIterator<Item = &'c Change<'c>>,
) -> Parameter {
    let value = |change: &'c Change<'c>| match change {
        Change::Set(value) => Some(value),
        Change::Increment(_) | Change::Append(_) => None,
    };
    column_parameter(kind, changes.map(value))
}
