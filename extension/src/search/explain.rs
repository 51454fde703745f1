//! How a search is done: its statement, the planner's plan, and in words what no index serves.

use super::plan::Plan;
use super::query::Query;
use super::run::select;
use super::time_zone;
use crate::access::sight::Sight;
use crate::access::{Caller, Right};
use crate::error::Error;
use crate::postgres::datum;
use crate::postgres::guard::{as_owner, without_jit};
use crate::postgres::spi::{Access, connected};
use crate::template::Template;
use std::rc::Rc;

/// The statement of a page's every segment with its plan. Nothing is run.
pub fn explain(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Right::Read, template)?;
    let query = Query::parse(body)?;
    let sight = Sight::new(caller, Rc::clone(template));
    let plan = Plan::new(&query, &sight, &time_zone::check(query.time_zone.as_deref())?)?;
    let segments = plan.order.segments(plan.position.as_ref());
    let mut out = String::new();
    for (position, segment) in segments.iter().enumerate() {
        if position > 0 {
            out.push_str("\nAnd when these are used up:\n\n");
        }
        let sql = select(template, &plan, segment, plan.limit + 1);
        out.push_str(&sql);
        out.push_str("\n\n");
        let lines = as_owner(|| {
            without_jit(|| {
                connected(|spi| {
                    // PostgreSQL explains nothing through a fixed snapshot.
                    let rows = spi.run_once(&format!("explain {sql}"), Access::Latest, &[]);
                    (0..rows.len())
                        .filter_map(|row| rows.get(row, 0).map(datum::read_text))
                        .collect::<Vec<_>>()
                })
            })
        });
        for line in &lines {
            out.push_str(line);
            out.push('\n');
        }
        if let Some(table) = lines.iter().find_map(|line| line.split("Seq Scan on ").nth(1)) {
            let table = table.split(' ').next().unwrap_or_default();
            out.push_str(&format!(
                "\nEvery row of {table} is read. Unless it is small, say indexed: true for an attribute that the search \
                 filters or sorts by; keyed.suggest_indexes tells which.\n"
            ));
        }
    }
    Ok(out)
}
