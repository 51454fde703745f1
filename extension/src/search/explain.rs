//! How a search is done: its statement, the planner's plan, and in words what no index serves.

use super::plan::{Plan, RECORD};
use super::query::Query;
use super::run::select;
use super::time_zone;
use super::words::{self, Selection};
use crate::access::sight::{self, Sight};
use crate::access::{Caller, Right};
use crate::error::Error;
use crate::postgres::datum;
use crate::postgres::guard::{as_owner, without_jit};
use crate::postgres::spi::{Access, connected};
use crate::template::Template;
use std::rc::Rc;

/// The statement of a page's every segment with its plan. Words are looked for; nothing else is run.
pub fn explain(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Right::Read, template)?;
    let query = Query::parse(body)?;
    let sight = Sight::new(caller, Rc::clone(template));
    let plan = Plan::new(&query, &sight, &time_zone::check(query.time_zone.as_deref())?)?;
    // How many rows there are, hidden ones included, is not for a caller who sees only some.
    let is_fenced = sight::rows(caller, template, RECORD).is_some();
    let explain = if is_fenced { "explain (costs off)" } else { "explain" };
    let mut out = String::new();
    let mut selected = String::new();
    if let Some(words) = &plan.words {
        let (selection, scanned) = words::select(caller, template, words, plan.position.as_ref())?;
        out.push_str(&describe(&selection, &scanned, is_fenced));
        if plan.keys.is_empty() {
            return Ok(out);
        }
        selected = selection.condition(template, plan.must_sort);
        if let Selection::Ranked(_) = selection {
            // The ids would fill the page; a single one shows the way as well.
            selected = selected.replace("$1", "array['00000000-0000-8000-8000-000000000000']::uuid[]");
        }
        out.push('\n');
    }
    let segments = plan.order.segments(plan.position.as_ref());
    for (position, segment) in segments.iter().enumerate() {
        if position > 0 {
            out.push_str("\nAnd when these are used up:\n\n");
        }
        let sql = select(template, &plan, segment, &selected, plan.limit + 1);
        out.push_str(&sql);
        out.push_str("\n\n");
        let lines = as_owner(|| {
            without_jit(|| {
                connected(|spi| {
                    // PostgreSQL explains nothing through a fixed snapshot.
                    let rows = spi.run_once(&format!("{explain} {sql}"), Access::Latest, &[]);
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

/// What became of the words.
fn describe(selection: &Selection, scanned: &[String], is_fenced: bool) -> String {
    let mut out = match selection {
        Selection::Ranked(_) if is_fenced => "The records that hold the words are ranked.\n".to_owned(),
        Selection::Ranked(ranked) => format!("{} records hold the words; they are ranked.\n", ranked.len()),
        Selection::Newest { .. } => {
            "So many records hold the words that they are not ranked: documents are read from \
            the newest on, until the page is full.\n"
                .to_owned()
        }
    };
    if !scanned.is_empty() {
        out.push_str(&format!(
            "No index serves words without a letter or digit, or exclusions alone: documents are read one by one for \
             {}.\n",
            scanned.join(", ")
        ));
    }
    out
}
