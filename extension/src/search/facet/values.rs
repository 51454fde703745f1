//! The values of a facet, counted in one pass over the table or by a statement.

use super::counts::Counter;
use crate::access::Caller;
use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::shape::write_value;
use crate::record::verbose;
use crate::search::page::search::Search;
use crate::search::page::statement::Statement;
use crate::search::query::facet::{Facet, MAX_VALUES};
use crate::template::Template;
use crate::value::normal_form::composed_sql;
use crate::value::table_name::RECORD;
use pgrx::pg_sys::Datum;

/// The maximum number of distinct lists that are grouped before their values are counted. More would cost more than
/// this saves.
const MAX_LISTS: u32 = 10_000;

/// The most frequent values of a field.
#[derive(Debug)]
pub struct FacetValues {
    /// The field, as the request names it.
    pub name: String,
    /// Its values, the most frequent first.
    pub values: Vec<FacetValue>,
}

/// A value of a field.
#[derive(Debug)]
pub struct FacetValue {
    /// The value as JSON.
    pub json: String,
    /// The number of records that have it.
    pub count: i64,
    /// Members that describe the value, as JSON: the label of a list's option, the display value of a referenced record.
    pub description: String,
}

/// Counts the values of the facet at a position of the plan.
pub fn count(search: &Search, counter: &Counter, position: usize) -> FacetValues {
    let facet = &search.plan.facets[position];
    let kind = facet.column.kind();
    let value = |value, count| describe(search.caller, search.template, facet, value, count);
    let values = match counter.values(position) {
        Some(values) => values.iter().map(|(it, count)| value(it.datum(kind), *count)).collect(),
        None => {
            let rows = search.run(&statement(search, facet));
            let count = |row: usize| rows.get::<Option<i64>>(row, 1).unwrap_or_default();
            (0..rows.len()).map(|row| value(rows.datum(row, 0), count(row))).collect()
        }
    };
    FacetValues { name: facet.name.clone(), values }
}

fn describe(
    caller: &Caller,
    template: &Template,
    facet: &Facet,
    value: Option<Datum>,
    count: i64,
) -> FacetValue {
    let attribute = facet.column.attribute();
    let attribute = template.attributes.iter().find(|it| Some(it.id) == attribute);
    let kind = match facet.column.kind() {
        AttributeType::List => AttributeType::String,
        kind => kind,
    };
    let (mut json, mut description) = (String::new(), String::new());
    write_value(&mut json, kind, value);
    match (attribute, value) {
        (Some(attribute), Some(value)) if attribute.kind == AttributeType::List => {
            description.push_str(",\"label\":");
            let value = datum::read_text(value);
            write_string(&mut description, attribute.label_of(&value));
        }
        (Some(attribute), Some(value)) if attribute.kind == AttributeType::Reference => {
            verbose::write_target(&mut description, caller, attribute, value);
        }
        _ => {}
    }
    FacetValue { json, count, description }
}

/// The statement that counts the values of a field.
pub fn statement(search: &Search, facet: &Facet) -> Statement {
    let Search { spi, template, is_only_shown, .. } = search;
    let are_lists_alike = !is_only_shown && has_shared_lists(spi, template, facet);
    search.over_all(|condition| sql(facet, &template.table_sql(), condition, are_lists_alike))
}

/// Whether many records hold the same list in this field, according to PostgreSQL's statistics.
fn has_shared_lists(spi: &Connection, template: &Template, facet: &Facet) -> bool {
    if facet.column.kind() != AttributeType::List {
        return false;
    }
    let sql = format!(
        "select from pg_stats s where s.schemaname = $1 and s.tablename = $2 and s.attname = $3 \
         and s.n_distinct > 0 and s.n_distinct <= {MAX_LISTS}"
    );
    let arguments = params![&template.project_slug, &template.slug, facet.column.name()];
    !spi.run_once(&sql, Snapshot::Active, &arguments).is_empty()
}

/// Value and number, the most frequent first. If many records hold the same list, each distinct list is unnested once, with
/// the number of its records.
fn sql(facet: &Facet, table: &str, condition: &str, are_lists_alike: bool) -> String {
    let column = facet.column.sql(RECORD);
    let counted = match facet.column.kind() {
        AttributeType::List if are_lists_alike => format!(
            "select f.value, pg_catalog.sum(l.n) from (select {column} as list, count(*) as n \
             from {table} {RECORD} where {condition} group by 1) l{} where f.value is not null group by 1",
            elements("l.list")
        ),
        AttributeType::List => format!(
            "select f.value, count(*) from {table} {RECORD}{} where {condition} and f.value is not null group by 1",
            elements(&column)
        ),
        _ => format!(
            "select {column}, count(*) from {table} {RECORD} where {condition} and {column} is not null group by 1"
        ),
    };
    let tail = format!("order by 2 desc, 1 limit {MAX_VALUES}");
    match facet.column.kind() {
        // The normal forms of a text are one value. They are composed once for each value, not for each record.
        AttributeType::String | AttributeType::List => format!(
            "select ({}){}, pg_catalog.sum(c.n)::bigint from ({counted}) c (value, n) group by 1 {tail}",
            composed_sql("c.value"),
            facet.column.order()
        ),
        _ => format!("{counted} {tail}"),
    }
}

/// The elements of a list, each once.
fn elements(list: &str) -> String {
    format!(
        " join pg_catalog.unnest({list}) with ordinality f (value, n) \
         on pg_catalog.array_position({list}, f.value) - pg_catalog.array_lower({list}, 1) + 1 = f.n"
    )
}
