//! The columns of a view with presentation, for people and BI tools: references show the display attribute of their
//! targets, lists the labels of their options. Pure.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json_write::to_json;
use crate::template::{Attribute, Template};
use crate::value::quote::{identifier, literal};
use crate::value::table_name::RECORD;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// The maximum length of a name in PostgreSQL, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 63;

/// The maximum number of joined references; further ones use subqueries. Planning time of joins grows with the fourth
/// power of their number. A subquery is planned only if a query selects its column.
const MAX_JOINS: usize = 20;

/// The columns of a view and its joins.
pub struct Presented {
    /// The columns in order.
    pub columns: Vec<Column>,
    /// Left joins, each on a primary key. PostgreSQL removes those whose columns a query does not select.
    pub joins: String,
}

/// A column of a view.
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its value, as an expression.
    pub sql: String,
    /// Its comment.
    pub comment: String,
}

/// The columns for these attributes in this order. `target` finds the template of a reference.
pub fn present(
    template: &Template,
    attributes: &[&Attribute],
    target: impl Fn(i32) -> Option<Rc<Template>>,
) -> Result<Presented, Error> {
    let mut columns: Vec<Column> = [
        ("id", "Id"),
        ("external_key", "External key"),
        ("created_at", "When the record was created"),
        ("updated_at", "When a value last changed"),
    ]
    .into_iter()
    .map(|(name, comment)| Column {
        name: name.to_owned(),
        sql: format!("{RECORD}.{name}"),
        comment: comment.to_owned(),
    })
    .collect();
    let (mut joins, mut joined) = (String::new(), 0);
    for (position, attribute) in attributes.iter().enumerate() {
        let own = format!("{RECORD}.{}", identifier(&attribute.slug));
        let label = attribute.label.as_deref().unwrap_or(&attribute.slug);
        let mut add =
            |name: String, sql: String, comment: String| columns.push(Column { name, sql, comment });
        match attribute.target.and_then(&target) {
            Some(target) => {
                let alias = format!("p{position}");
                let condition = format!("{alias}.id = {own} and {alias}.deleted_at is null");
                let table = target.table_sql();
                let (shown, key) = (display(&target, &alias), format!("{alias}.external_key"));
                let (shown, key) = if joined < MAX_JOINS {
                    joins.push_str(&format!(" left join {table} {alias} on {condition}"));
                    joined += 1;
                    (shown, key)
                } else {
                    let of_target = |sql| format!("(select {sql} from {table} {alias} where {condition})");
                    (of_target(shown), of_target(key))
                };
                add(attribute.slug.clone(), shown, label.to_owned());
                add(key_column(&attribute.slug), key, format!("{label}: external key"));
                add(id_column(&attribute.slug), own, format!("{label}: id"));
            }
            None if attribute.kind == AttributeType::List => {
                add(attribute.slug.clone(), labels(attribute, &own), label.to_owned());
                add(values_column(&attribute.slug), own, format!("{label}: values as stored"));
            }
            None => add(attribute.slug.clone(), own, format!("{label}{}", unit(attribute))),
        }
    }
    check_names(template, &columns)?;
    Ok(Presented { columns, joins })
}

/// The columns whose names derive from an attribute's slug: the old and the new names.
pub fn renamed(attribute: &Attribute, new: &str) -> Vec<(String, String)> {
    let names: &[fn(&str) -> String] = match attribute.kind {
        AttributeType::Reference => &[key_column, id_column],
        AttributeType::List => &[values_column],
        _ => &[],
    };
    names.iter().map(|name| (name(&attribute.slug), name(new))).collect()
}

fn key_column(slug: &str) -> String {
    format!("{slug}__key")
}

fn id_column(slug: &str) -> String {
    format!("{slug}__id")
}

fn values_column(slug: &str) -> String {
    format!("{slug}__values")
}

/// The expression that represents a record: its display attribute, or else its key. The collation is always the default,
/// because PostgreSQL cannot change the type of a view's column.
fn display(target: &Template, alias: &str) -> String {
    let key = format!("{alias}.external_key collate \"default\"");
    let Some(position) = target.display_slug().and_then(|slug| target.position(slug)) else { return key };
    let attribute = &target.attributes[position];
    let own = format!("{alias}.{}", identifier(&attribute.slug));
    let shown = match attribute.kind {
        AttributeType::String => own,
        AttributeType::List => labels(attribute, &own),
        _ => format!("{own}::text"),
    };
    format!("coalesce({shown}, {key})")
}

/// The labels of a list's values, separated by commas. A list with one value needs no subquery.
fn labels(attribute: &Attribute, column: &str) -> String {
    let options = attribute.options.iter().flatten();
    let labels: BTreeMap<&str, &str> = options
        .filter(|option| option.label != option.value)
        .map(|option| (option.value.as_str(), option.label.as_str()))
        .collect();
    if labels.is_empty() {
        return format!("array_to_string({column}, ', ')");
    }
    let labels = literal(&to_json(&labels));
    let label = |value: &str| format!("coalesce({labels}::jsonb ->> {value}, {value})");
    format!(
        "case when {column} is null then null when cardinality({column}) = 1 then {} \
         else array_to_string(array(select {} from unnest({column}) as v (value)), ', ') end",
        label(&format!("({column})[1]")),
        label("v.value")
    )
}

/// The unit of a number, appended to its label.
fn unit(attribute: &Attribute) -> String {
    let format = attribute.format.as_deref().and_then(|format| serde_json::from_str::<Value>(format).ok());
    let Some(format) = format else { return String::new() };
    match (format["currency"].as_str().or(format["unit"].as_str()), format["percent"].as_bool()) {
        (Some(sign), _) => format!(" ({sign})"),
        (None, Some(true)) => " (0.5 is 50 %)".to_owned(),
        _ => String::new(),
    }
}

fn check_names(template: &Template, columns: &[Column]) -> Result<(), Error> {
    let mut names = HashSet::new();
    for Column { name, .. } in columns {
        let violation = if name.len() > MAX_NAME_BYTES {
            format!("the name of column {name} exceeds {MAX_NAME_BYTES} bytes")
        } else if !names.insert(name) {
            format!("two columns have the name {name}")
        } else {
            continue;
        };
        let message =
            format!("cannot create a view with presentation of {}: {violation}", template.full_name());
        return Err(Error::at(Code::Conflict, "/presentation", message).hint(
            "Rename the attribute, or omit it by listing the other attributes in the member fields of the query.",
        ));
    }
    Ok(())
}
