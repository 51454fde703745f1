//! The records that full-text terms select, and their condition in the statements of a search.
//!
//! Documents are compared once per search: page, total and facets share the matches.

use super::ranked;
use crate::access::{Caller, visibility};
use crate::error::{Code, Error};
use crate::postgres::parameter::{Parameter, array};
use crate::postgres::spi::Connection;
use crate::search::query::cursor::Position;
use crate::search::query::plan::Plan;
use crate::search::text::find::{self, MANY, Matches, RANK_KEY};
use crate::search::text::query::TextQuery;
use crate::search::text::table;
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use std::cell::OnceCell;
use uuid::Uuid;

/// The records that full-text terms select, before the filters apply.
pub struct Selection<'s> {
    template: &'s Template,
    plan: &'s Plan,
    /// The matches, found on demand.
    pub matches: Matches<'s>,
    ids: OnceCell<Vec<Uuid>>,
}

/// The condition of full-text terms in a statement.
#[derive(Default)]
pub struct Selected {
    /// An additional condition on the records.
    pub condition: String,
    /// The arguments of the condition.
    pub arguments: Vec<Parameter>,
    /// Whether the arguments are very many ids, which the planner does not count.
    pub are_many: bool,
}

impl Selected {
    /// The records whose ids are in an argument.
    pub fn by_ids() -> Selected {
        Selected { condition: format!(" and {RECORD}.id = any ($1)"), ..Selected::default() }
    }
}

/// The records that a statement needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// All of them.
    All,
    /// The first records in an order other than rank order.
    First,
}

/// Prepares to find the records with the terms of a plan; none without terms.
pub fn select<'s>(
    caller: &Caller,
    template: &'s Template,
    plan: &'s Plan,
) -> Result<Option<Selection<'s>>, Error> {
    let Some(terms) = &plan.terms else { return Ok(None) };
    require_documents(template)?;
    if let Some(Position { rank: Some(rank), .. }) = plan.position
        && !(0..=i32::from(RANK_KEY)).contains(&rank)
    {
        let message = "this cursor is from an earlier version of keyed";
        return Err(
            Error::at(Code::InvalidValue, "/cursor", message).hint("Start again with the first page.")
        );
    }
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let matches = Matches::of(template, terms, &visible_rows);
    Ok(Some(Selection { template, plan, matches, ids: OnceCell::new() }))
}

/// Rejects a template that is older than search documents.
fn require_documents(template: &Template) -> Result<(), Error> {
    if template.has_documents { Ok(()) } else { Err(table::not_migrated(template)) }
}

/// The condition that a record has the terms, in readable form.
pub fn condition(caller: &Caller, template: &Template, terms: &TextQuery) -> Result<String, Error> {
    require_documents(template)?;
    let condition =
        find::condition(template, terms, &|target, alias| visibility::condition(caller, target, alias));
    let documents = SideTable::Documents.sql(template.id);
    Ok(format!("exists (select from {documents} d where d.record_id = {RECORD}.id and {condition})"))
}

impl Selection<'_> {
    /// The condition of the terms in a statement with an order other than rank order.
    pub fn selected(&self, spi: &Connection, needs: Needs) -> Selected {
        // If an index has the order, comparing documents in that order soon fills a page. If all records are needed,
        // PostgreSQL joins documents with less work than ids, unless it would compare long documents.
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
        // The planner examines each element of an array. A very long one is joined instead.
        let are_many = ids.len() > MANY;
        let condition = match are_many {
            false => Selected::by_ids().condition,
            true => format!(" and {RECORD}.id in (select pg_catalog.unnest($1))"),
        };
        Selected { condition, arguments: vec![array(ids.iter().copied())], are_many }
    }

    /// All records with the terms. If few records pass the plan's condition, only those are compared with the
    /// terms.
    pub fn ids(&self, spi: &Connection) -> &[Uuid] {
        self.ids.get_or_init(|| {
            if !self.plan.has_terms_only
                && self.matches.are_many()
                && let Some(records) = ranked::few(spi, self.template, self.plan)
            {
                return self.matches.among(&records).into_iter().map(|(_, id)| id).collect();
            }
            self.matches.all()
        })
    }

    /// The first records in rank order that pass the plan's condition.
    pub fn first_ids(&self, spi: &Connection, limit: usize) -> Vec<Uuid> {
        ranked::first_ids(spi, self.template, self.plan, &self.matches, limit)
    }
}
