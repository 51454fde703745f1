//! Runs the statements of a search.

use super::assistance::correction;
use super::assistance::highlighter;
use super::facet::counts::Counter;
use super::facet::values;
use super::page::records::Page;
use super::page::search::Search;
use super::page::selection::{self, Needs};
use super::page::{find, ranked};
use super::query::body::{Count, SearchQuery};
use super::query::plan::Plan;
use super::query::usage;
use super::query::{cursor, request};
use super::result::{Corrected, SearchResult};
use super::semantic::hybrid;
use super::text::find::Matches;
use super::text::query::{Term, TextQuery};
use crate::access::Caller;
use crate::access::visibility::{self, CallerSchema};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Rows, Snapshot, connected};
use crate::record::shape::{Projection, STANDARD_COLUMNS};
use crate::template::Template;
use crate::value::table_name::RECORD;
use std::rc::Rc;
use uuid::Uuid;

/// Runs a search. Returns its result, and the full-text terms if it is the first page.
pub(super) fn run(
    caller: &Caller,
    template: &Rc<Template>,
    query: &SearchQuery,
) -> Result<(SearchResult, Option<TextQuery>), Error> {
    let plan = request::plan(caller, template, query)?;
    let projection = Projection::parse(caller, template, query.fields.as_deref(), query.verbose)?;
    let projection = highlighter::highlighted(
        projection.with_version(query.versions),
        caller,
        template,
        plan.terms.as_ref(),
        query.highlight.map(|it| it.offsets),
    );
    let selection = selection::select(caller, template, &plan)?;
    let result = as_owner(|| {
        connected(|spi| {
            let search = Search { spi, caller, template, plan: &plan, selection, is_only_shown: false };
            match &query.vector {
                Some(vector) => {
                    let page = hybrid::page(&search, vector, &projection)?;
                    Ok(SearchResult { page, ..SearchResult::default() })
                }
                None => Ok(found(&search, query, &projection)),
            }
        })
    })?;
    usage::note(&plan);
    Ok((result, plan.terms.filter(|_| plan.position.is_none())))
}

/// Whether a record that is visible to the caller has a term. The text of the query is not compared with keys.
pub(super) fn has_match(caller: &Caller, template: &Rc<Template>, term: &Term) -> Result<bool, Error> {
    let visible = Plan::of_all(&CallerSchema::new(caller, Rc::clone(template)))?;
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let alone = TextQuery { text: String::new(), terms: vec![term.clone()] };
    let matches = Matches::of(template, &alone, &visible_rows);
    let found = as_owner(|| connected(|spi| ranked::first_ids(spi, template, &visible, &matches, 1)));
    Ok(!found.is_empty())
}

/// The result of a search without a vector.
fn found(search: &Search, query: &SearchQuery, projection: &Projection) -> SearchResult {
    let Search { spi, template, plan, .. } = search;
    let mut page = match &search.selection {
        _ if plan.filter.is_never_true() => Page::default(),
        Some(selection) if plan.keys.is_empty() => {
            ranked::page(spi, template, plan, &selection.matches, projection)
        }
        _ => ordered_page(search, projection),
    };
    if let Some(last) = &mut page.last {
        last.push_str(&plan.cursor_suffix);
    }
    let counter = Counter::new(search);
    let total = total(search, &counter, &page);
    let facets = (0..plan.facets.len()).map(|position| values::count(search, &counter, position)).collect();
    let corrected = (!query.corrections.is_empty()).then(|| {
        let text = query.global_search.as_deref();
        Corrected { did_you_mean: text.and_then(|text| correction::corrected_text(text, &query.corrections)) }
    });
    SearchResult { page, total, facets, corrected }
}

/// A page in the order of its sort keys: segment after segment until it is full.
fn ordered_page(search: &Search, projection: &Projection) -> Page {
    let Search { plan, template, .. } = search;
    let mut page = Page::default();
    let segments = plan.order.segments(plan.position.as_ref());
    for first in 0..segments.len() {
        // One extra record shows whether there is another page.
        let limit = plan.limit - page.count;
        let found = find::page_rows(search, &segments[first..], limit + 1);
        let rows = &found.rows;
        let written = page.push_rows(template, rows, rows.len().min(limit), projection);
        // If the page ends with a segment, its last record is in the segment before.
        if written > 0 {
            page.last = Some(cursor_at(template, plan, rows, written - 1));
        }
        if rows.len() > written {
            page.has_more = true;
            break;
        }
        if found.is_of_all {
            break;
        }
    }
    page
}

/// The total number of records, as requested.
fn total(search: &Search, counter: &Counter, page: &Page) -> Option<i64> {
    let Search { spi, caller, template, plan, .. } = search;
    if plan.count == Count::None {
        return None;
    }
    // The first page is often all there is.
    if plan.position.is_none() && !page.has_more {
        return Some(page.count as i64);
    }
    // Matches of terms are counted unless they are many. The planner's estimate would disclose hidden records to a caller with
    // a scope.
    let is_scoped = visibility::rows_over(plan.lives, caller, template, RECORD).is_some();
    let are_few = || search.selection.as_ref().is_some_and(|selection| !selection.matches.are_many());
    if plan.count == Count::Exact || is_scoped || are_few() {
        return counter.total().or_else(|| search.run(&search.count_statement()).value::<i64>());
    }
    let selected = search.selected(Needs::First).condition;
    let (table, condition) = (template.table_sql(), format!("{}{selected}", plan.condition));
    let sql = format!("explain (format json) select from {table} {RECORD} where {condition}");
    // PostgreSQL explains nothing through a fixed snapshot.
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    let plan = rows.get::<Option<String>>(0, 0)?;
    let plan: serde_json::Value = serde_json::from_str(&plan).ok()?;
    let estimated = plan[0]["Plan"]["Plan Rows"].as_f64()? as i64;
    // At least the records of the page exist, regardless of the estimate.
    Some(estimated.max(page.count as i64))
}

fn cursor_at(template: &Template, plan: &Plan, rows: &Rows, row: usize) -> String {
    let values = plan.keys.iter().enumerate().map(|(position, key)| {
        let column = STANDARD_COLUMNS + template.attributes.len() + position;
        let mut json = String::new();
        match rows.datum(row, column) {
            Some(value) => key.column.kind().write_cursor(&mut json, value),
            None => json.push_str("null"),
        }
        json
    });
    let id = rows.get::<Option<Uuid>>(row, 0).unwrap_or_default();
    cursor::encode(&plan.fingerprint, &values.collect::<Vec<_>>(), &id.to_string())
}
