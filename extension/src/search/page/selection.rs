//! A search for words: what it adds to the statements of a search.
//!
//! Matches are compared once for a search: page, total and facets share them. If there are very many, [`value_counts`]
//! counts the values while it reads the table once.

use super::ranked;
use crate::access::{Caller, visibility};
use crate::error::{Code, Error};
use crate::postgres::parameter::{Parameter, array};
use crate::postgres::relation;
use crate::postgres::spi::Connection;
use crate::record::shape::Projection;
use crate::search::assistance::highlighter::Highlighter;
use crate::search::facet::counted_field::CountedValue;
use crate::search::facet::counts::{self, Counts};
use crate::search::query::body::{Count, Highlight};
use crate::search::query::cursor::Position;
use crate::search::query::plan::Plan;
use crate::search::text::find::{self, MANY, Matches, RANK_KEY};
use crate::search::text::query::TextQuery;
use crate::search::text::table;
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use std::cell::OnceCell;
use uuid::Uuid;

/// Below one record in so many, looking the matches up takes less time than a scan of the table.
const ROWS_SCANNED_PER_LOOKUP: f64 = 20.0;

/// The records that a search for words selects, before its filters.
pub struct Selection<'s> {
    template: &'s Template,
    plan: &'s Plan,
    /// The matches of the words, found when they are asked for.
    pub matches: Matches<'s>,
    ids: OnceCell<Vec<Uuid>>,
    counts: OnceCell<Option<Counts>>,
}

/// What the words add to a statement.
#[derive(Default)]
pub struct Selected {
    /// A further condition on the records.
    pub condition: String,
    /// The arguments that it takes.
    pub arguments: Vec<Parameter>,
    /// Whether the arguments are very many ids, which the planner does not count.
    pub are_many: bool,
}

impl Selected {
    /// The records with the ids of an argument.
    pub fn by_ids() -> Selected {
        Selected { condition: format!(" and {RECORD}.id = any ($1)"), ..Selected::default() }
    }
}

/// What a statement needs of the records found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// All of them.
    All,
    /// The first in an order of its own.
    First,
}

/// Prepares to find the records with the words of a plan.
pub fn select<'s>(
    caller: &Caller,
    template: &'s Template,
    plan: &'s Plan,
) -> Result<Option<Selection<'s>>, Error> {
    let Some(words) = &plan.words else { return Ok(None) };
    require_documents(template)?;
    if let Some(Position { rank: Some(rank), .. }) = plan.position
        && !(0..=i32::from(RANK_KEY)).contains(&rank)
    {
        let message = "this cursor is of an earlier version, which did not rank very many records";
        return Err(
            Error::at(Code::InvalidValue, "/cursor", message).hint("Start again with the first page.")
        );
    }
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let matches = Matches::of(template, words, &visible_rows);
    Ok(Some(Selection { template, plan, matches, ids: OnceCell::new(), counts: OnceCell::new() }))
}

/// Refuses a template that is older than its documents.
fn require_documents(template: &Template) -> Result<(), Error> {
    if template.has_documents { Ok(()) } else { Err(table::not_migrated(template)) }
}

/// The projection with what the words matched, where that is wanted.
pub fn highlighted(
    projection: Projection,
    caller: &Caller,
    template: &Template,
    plan: &Plan,
    highlight: Option<Highlight>,
) -> Projection {
    let Some(highlight) = highlight else { return projection };
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    projection.with(Highlighter::new(template, plan.words.as_ref(), &visible_rows, highlight.offsets))
}

/// The condition that a record has the words, for a person to read.
pub fn condition(caller: &Caller, template: &Template, words: &TextQuery) -> Result<String, Error> {
    require_documents(template)?;
    let condition =
        find::condition(template, words, &|target, alias| visibility::condition(caller, target, alias));
    let documents = SideTable::Documents.sql(template.id);
    Ok(format!("exists (select from {documents} d where d.record_id = {RECORD}.id and {condition})"))
}

impl Selection<'_> {
    /// What it adds to a statement whose order is not ours.
    pub fn selected(&self, spi: &Connection, needs: Needs) -> Selected {
        // Where an index gives the order, a page is found soon, document by document. Where all are needed, PostgreSQL joins
        // them with less work than their ids, unless it compares long texts.
        let is_asked = needs == Needs::First || !self.matches.are_long();
        if is_asked && self.matches.are_many() {
            let documents = SideTable::Documents.sql(self.template.id);
            let each = if needs == Needs::First { " offset 0" } else { "" };
            let holder = self.matches.key_holder;
            let holder = holder.map(|id| format!("{RECORD}.id = '{id}' or ")).unwrap_or_default();
            let condition = format!(
                " and ({holder}exists (select from {documents} d where d.record_id = {RECORD}.id and ({}){each}))",
                self.matches.condition()
            );
            return Selected { condition, ..Selected::default() };
        }
        let ids = self.ids(spi);
        // The planner looks at each element of a list; that many are joined.
        let are_many = ids.len() > MANY;
        let condition = match are_many {
            false => Selected::by_ids().condition,
            true => format!(" and {RECORD}.id in (select pg_catalog.unnest($1))"),
        };
        Selected { condition, arguments: vec![array(ids.iter().copied())], are_many }
    }

    /// All records with the words, or those that pass the plan's condition too where few do.
    fn ids(&self, spi: &Connection) -> &[Uuid] {
        self.ids.get_or_init(|| {
            if !self.plan.has_words_only
                && self.matches.are_many()
                && let Some(records) = ranked::few(spi, self.template, self.plan)
            {
                return self.matches.among(&records).into_iter().map(|(_, id)| id).collect();
            }
            self.matches.all()
        })
    }

    /// How many records there are, where no statement has to count them.
    pub fn count(&self, spi: &Connection) -> Option<i64> {
        let by_words = || self.plan.has_words_only.then(|| self.matches.count() as i64);
        if self.plan.facets.is_empty() && self.plan.has_words_only {
            return by_words();
        }
        self.counts(spi).map(|counts| counts.total).or_else(by_words)
    }

    /// The values of the facet at this position, where no statement has to count them.
    pub fn facet_values(&self, spi: &Connection, position: usize) -> Option<&[(CountedValue, i64)]> {
        self.counts(spi)?.fields[position].as_deref()
    }

    /// What is counted in one pass over the table, where that is less work than to look the records up.
    fn counts(&self, spi: &Connection) -> Option<&Counts> {
        let count = || {
            let counts =
                || counts::count(self.template, self.ids(spi), self.filters(), &self.plan.facets).ok();
            let is_of_use = |fields: Vec<bool>| self.plan.count == Count::Exact || fields.contains(&true);
            self.fields_counted(spi).is_some_and(is_of_use).then(counts).flatten()
        };
        self.counts.get_or_init(count).as_ref()
    }

    /// Which facets one pass over the table would count, and the total with them; none where statements count all.
    pub fn fields_counted(&self, spi: &Connection) -> Option<Vec<bool>> {
        let fields = || counts::fields_counted(self.template, self.filters(), &self.plan.facets);
        self.is_counted_in_one_pass(spi).then(fields).flatten()
    }

    /// Whether one pass over the table is less work than to look the records up. Where filters may leave few of some matches, a
    /// statement finds those by an index.
    fn is_counted_in_one_pass(&self, spi: &Connection) -> bool {
        let rows = relation::estimated_rows(self.template.table);
        (self.plan.has_words_only || self.matches.are_many())
            && self.ids(spi).len() as f64 * ROWS_SCANNED_PER_LOOKUP >= rows
    }

    /// The condition of the plan, where it asks for more than the words.
    fn filters(&self) -> Option<&str> {
        (!self.plan.has_words_only).then_some(self.plan.condition.as_str())
    }

    /// The first records in the order of the words that pass the plan's condition.
    pub fn first_ids(&self, spi: &Connection, most: usize) -> Vec<Uuid> {
        ranked::first_ids(spi, self.template, self.plan, &self.matches, most)
    }
}
