//! Runs the statements of a search and writes the answer: `{records, next_cursor, has_more, total, facets?}`.

use super::bound_statement::Statement;
use super::facet::Facet;
use super::page::Segment;
use super::page_writer::PageWriter;
use super::plan::Plan;
use super::query::{Count, SearchQuery};
use super::ranked::ranked_page;
use super::semantic::hybrid;
use super::statement::select;
use super::text::query::TextQuery;
use super::words::{self, Needs, Selected, Selection};
use super::{correction, cursor, time_zone, usage};
use crate::access::visibility::{self, CallerSchema};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::filter::render;
use crate::json::write_string;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::record::shape::{Projection, STANDARD_COLUMNS};
use crate::template::Template;
use crate::value::table_name::RECORD;
use crate::vectors;
use crate::view::stored;
use std::rc::Rc;
use uuid::Uuid;

/// The answer of a search, and the words that it looked for if it is of the first page.
pub fn found(
    caller: &Caller,
    template: &Rc<Template>,
    query: &SearchQuery,
) -> Result<(String, Option<TextQuery>), Error> {
    let zone = time_zone::of_search(query.time_zone.as_deref(), template)?;
    let schema = CallerSchema::new(caller, Rc::clone(template));
    let plan = Plan::new(query, &schema, &zone)?;
    let projection = Projection::parse(caller, template, query.fields.as_deref(), query.verbose)?;
    let projection = projection.with_version(query.versions);
    let projection = words::highlighted(projection, caller, template, &plan, query.highlight);
    let selection = words::select(caller, template, &plan)?;
    let answer = as_owner(|| {
        connected(|spi| {
            if let Some(vector) = &query.vector {
                return hybrid::answer(spi, caller, template, &plan, vector, selection.as_ref(), &projection);
            }
            let search = Search { spi, caller, template, plan: &plan, selection, is_only_shown: false };
            let mut answer = search.answer(&projection);
            correction::write_meant(&mut answer, query.global_search.as_deref(), &query.corrections);
            Ok(answer)
        })
    })?;
    usage::note(&plan);
    Ok((answer, plan.words.filter(|_| plan.position.is_none())))
}

/// Refuses a search that [`super::fuzzy::search`] would refuse, without looking for anything.
pub fn check(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<(), Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    let query = query.within(saved.as_deref())?;
    let zone = time_zone::of_search(query.time_zone.as_deref(), template)?;
    Plan::new(&query, &CallerSchema::new(caller, Rc::clone(template)), &zone)?;
    Projection::parse(caller, template, query.fields.as_deref(), query.verbose)?;
    if query.vector.is_some() {
        vectors::table::require(template)?;
    }
    Ok(())
}

/// The condition that the words and filters of a search compile to, for reading.
pub fn filter_sql(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    let query = query.within(saved.as_deref())?;
    let plan = Plan::new(
        &query,
        &CallerSchema::new(caller, Rc::clone(template)),
        &time_zone::of_search(query.time_zone.as_deref(), template)?,
    )?;
    let options = render::Options { lives: plan.lives, ..render::Options::default() };
    let filters = render::render(&plan.filter, RECORD, options);
    Ok(match &plan.words {
        Some(words) => format!("{} and {filters}", words::condition(caller, template, words)?),
        None => filters,
    })
}

/// A search while it runs.
pub struct Search<'a> {
    /// The connection of its statements.
    pub spi: &'a Connection,
    /// Who asks.
    pub caller: &'a Caller,
    /// What is searched.
    pub template: &'a Template,
    /// What is asked.
    pub plan: &'a Plan,
    /// What the words select; `None` without words.
    pub selection: Option<Selection<'a>>,
    /// Whether statements are only shown, to a caller who may not learn how many records there are: they are written in the same
    /// way regardless of that.
    pub is_only_shown: bool,
}

impl Search<'_> {
    fn answer(&self, projection: &Projection) -> String {
        let mut out = String::from("{\"records\":[");
        let page = match &self.selection {
            _ if self.plan.filter.is_never_true() => PageWriter::default(),
            Some(selection) if self.plan.keys.is_empty() => {
                ranked_page(self.spi, self.template, self.plan, &selection.matches, projection, &mut out)
            }
            _ => self.records(projection, &mut out),
        };
        out.push_str("],\"next_cursor\":");
        match page.last.as_ref().filter(|_| page.has_more) {
            Some(cursor) => write_string(&mut out, &format!("{cursor}{}", self.plan.carried)),
            None => out.push_str("null"),
        }
        out.push_str(",\"has_more\":");
        out.push_str(if page.has_more { "true" } else { "false" });
        out.push_str(",\"total\":");
        match self.total(&page) {
            Some(total) => out.push_str(&total.to_string()),
            None => out.push_str("null"),
        }
        if !self.plan.facets.is_empty() {
            out.push_str(",\"facets\":{");
            for (position, facet) in self.plan.facets.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_string(&mut out, &facet.name);
                out.push(':');
                self.write_facet(position, facet, &mut out);
            }
            out.push('}');
        }
        out.push('}');
        out
    }

    /// What the words add to a statement.
    fn selected(&self, needs: Needs) -> Selected {
        match &self.selection {
            Some(_) if self.is_only_shown => Selected::by_ids(),
            Some(selection) => selection.selected(self.spi, needs),
            None => Selected::default(),
        }
    }

    /// A statement over all records found, written over a condition.
    fn over_all(&self, write: impl FnOnce(&str) -> String) -> Statement {
        let Selected { condition, arguments, are_many } = self.selected(Needs::All);
        Statement { sql: write(&format!("{}{condition}", self.plan.condition)), arguments, are_many }
    }

    /// Runs a statement.
    pub(super) fn ask(&self, statement: &Statement) -> Rows<'_> {
        statement.run(self.spi, "", Snapshot::Active)
    }

    /// The statement that reads a segment.
    pub fn page_sql(&self, segment: &Segment, limit: usize) -> Statement {
        let needs = if self.plan.must_sort { Needs::All } else { Needs::First };
        let Selected { condition, arguments, are_many } = self.selected(needs);
        let sql = select(self.template, self.plan, segment, &condition, limit);
        Statement { sql, arguments, are_many }
    }

    /// The statement that counts all records found.
    pub fn count_sql(&self) -> Statement {
        let table = self.template.table_sql();
        self.over_all(|condition| format!("select count(*) from {table} {RECORD} where {condition}"))
    }

    /// The statement that counts the values of a field.
    pub fn facet_sql(&self, facet: &Facet) -> Statement {
        let are_lists_alike = !self.is_only_shown && facet.has_shared_lists(self.spi, self.template);
        self.over_all(|condition| facet.sql(&self.template.table_sql(), condition, are_lists_alike))
    }

    /// Writes the records of the page, segment after segment until it is full.
    fn records(&self, projection: &Projection, out: &mut String) -> PageWriter {
        let (plan, template) = (self.plan, self.template);
        let mut page = PageWriter::default();
        let segments = plan.order.segments(plan.position.as_ref());
        for place in 0..segments.len() {
            // One extra record shows whether there is another page.
            let room = plan.limit - page.shown;
            let found = self.page_rows(&segments[place..], room + 1);
            let rows = &found.rows;
            let shown = page.write_records(template, rows, rows.len().min(room), projection, out);
            // A page may end where a segment does: then its last record is one of the segment before.
            if shown > 0 {
                page.last = Some(cursor_at(template, plan, rows, shown - 1));
            }
            if rows.len() > shown {
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
    fn total(&self, page: &PageWriter) -> Option<i64> {
        if self.plan.count == Count::None {
            return None;
        }
        // The first page is often all there is.
        if self.plan.position.is_none() && !page.has_more {
            return Some(page.shown as i64);
        }
        // Matches of words are counted unless they are many. For a caller with a scope, the planner's estimate would
        // reveal other records.
        let plan = self.plan;
        let is_scoped = visibility::rows_over(plan.lives, self.caller, self.template, RECORD).is_some();
        let are_few = || self.selection.as_ref().is_some_and(|selection| !selection.matches.are_many());
        if plan.count == Count::Exact || is_scoped || are_few() {
            let counted = self.selection.as_ref().and_then(|selection| selection.count(self.spi));
            return counted.or_else(|| self.ask(&self.count_sql()).value::<i64>());
        }
        let selected = self.selected(Needs::First).condition;
        let (table, condition) = (self.template.table_sql(), format!("{}{selected}", plan.condition));
        let sql = format!("explain (format json) select from {table} {RECORD} where {condition}");
        // PostgreSQL explains nothing through a fixed snapshot.
        let rows = self.spi.run_once(&sql, Snapshot::Latest, &[]);
        let plan = rows.get::<Option<String>>(0, 0)?;
        let plan: serde_json::Value = serde_json::from_str(&plan).ok()?;
        let estimated = plan[0]["Plan"]["Plan Rows"].as_f64()? as i64;
        // At least the shown records exist, regardless of the estimate.
        Some(estimated.max(page.shown as i64))
    }
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
