//! The statements of a search: their text, and how they run.

use crate::filter::render::Lives;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::Parameter;
use crate::postgres::planning::Shape;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::record::statement::{columns, columns_of_any};
use crate::search::query::keyset::{Segment, Sorted};
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::table_name::RECORD;
use std::ffi::CStr;

/// A statement of a search.
#[derive(Default)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// Its arguments.
    pub arguments: Vec<Parameter>,
    /// Whether the arguments are very many ids, which the planner does not count.
    pub are_many: bool,
}

impl Statement {
    /// A statement without arguments.
    pub fn plain(sql: String) -> Statement {
        Statement { sql, ..Statement::default() }
    }

    /// Runs the statement, with a prefix such as `explain`.
    pub fn run<'c>(&self, spi: &'c Connection, prefix: &str, snapshot: Snapshot) -> Rows<'c> {
        // Very many ids are not looked up one by one.
        let settings: &[(&CStr, &CStr)] = if self.are_many { &[(c"enable_nestloop", c"off")] } else { &[] };
        with_settings(settings, || spi.run_once(&format!("{prefix}{}", self.sql), snapshot, &self.arguments))
    }
}

/// A statement in the output of explain.
pub struct Explained {
    /// Its purpose.
    pub purpose: String,
    /// The statement.
    pub statement: Statement,
    /// The plan shape that it requires.
    pub shape: Option<Shape>,
    /// The member of the search that needs it; `None` if it finds the page.
    pub member: Option<&'static str>,
}

/// Reads at most `limit` records of a segment; `selected` is the condition of full-text terms.
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
    // If all records found must be sorted, only their sort keys are read; the other columns are read for the records of
    // the page.
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

/// Reads all records found, of a segment or in the order of the table, with further expressions after their columns.
pub fn select_all(
    template: &Template,
    plan: &Plan,
    segment: Option<&Segment>,
    selected: &str,
    additional: &str,
) -> String {
    let (columns, from, condition) = (columns(template), &plan.from, &plan.condition);
    let (and, order) = segment.map_or_else(Default::default, |segment| {
        let order_by = segment.order_by(|by| plan.order.sql(by));
        (segment.and_condition(), format!(" order by {order_by}"))
    });
    format!("select {columns}{additional} from {from} where {condition}{selected}{and}{order}")
}
