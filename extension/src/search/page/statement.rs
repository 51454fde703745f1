//! Plan → the statement that reads a segment of a page. Pure text.

use crate::filter::render::Lives;
use crate::record::statement::{columns, columns_of_any};
use crate::search::query::keyset::{Segment, Sorted};
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::table_name::RECORD;

/// Reads at most this many records of a segment; `selected` is the condition of words.
pub fn select(template: &Template, plan: &Plan, segment: &Segment, selected: &str, limit: usize) -> String {
    let condition = format!("{}{selected}{}", plan.condition, segment.and_condition());
    let order_by = segment.order_by(|by| plan.order.sql(by));
    let columns = if plan.lives == Lives::Live { columns(template) } else { columns_of_any(template) };
    let from = &plan.from;
    let keys = plan.order.keys.iter();
    if !plan.must_sort {
        let keys: String = keys.map(|key| format!(", {}", key.sql)).collect();
        return format!(
            "select {columns}{keys} from {from} where {condition} order by {order_by} limit {limit}"
        );
    }
    // Where all records found must be sorted, only what they are sorted by is taken from each; the whole of them is
    // read for those of the page.
    let (inner, outer): (String, String) = keys
        .enumerate()
        .map(|(number, key)| (format!(", {} as k{number}", key.sql), format!(", p.k{number}")))
        .unzip();
    let again = segment.order_by(|by| match by {
        Sorted::Key(number) => format!("p.k{number}"),
        Sorted::Id => "p.id".to_owned(),
    });
    let table = template.table_sql();
    format!(
        "with p as materialized (select {RECORD}.id{inner} from {from} where {condition} order by {order_by} \
         limit {limit}) \
         select {columns}{outer} from p join {table} {RECORD} on {RECORD}.id = p.id order by {again}"
    )
}

/// Reads all records found, of a segment or in the order of the table, with further expressions behind their columns.
pub fn select_all(
    template: &Template,
    plan: &Plan,
    segment: Option<&Segment>,
    selected: &str,
    further: &str,
) -> String {
    let (columns, from, condition) = (columns(template), &plan.from, &plan.condition);
    let (and, order) = segment.map_or_else(Default::default, |segment| {
        let order_by = segment.order_by(|by| plan.order.sql(by));
        (segment.and_condition(), format!(" order by {order_by}"))
    });
    format!("select {columns}{further} from {from} where {condition}{selected}{and}{order}")
}
