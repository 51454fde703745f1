//! The state of a running search.

use super::selection::{Needs, Selected, Selection};
use super::statement::{Statement, select};
use crate::access::Caller;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::search::query::keyset::Segment;
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::table_name::RECORD;

/// A running search.
pub struct Search<'a> {
    /// The connection of its statements.
    pub spi: &'a Connection,
    /// The caller.
    pub caller: &'a Caller,
    /// The template whose records are searched.
    pub template: &'a Template,
    /// The plan.
    pub plan: &'a Plan,
    /// The records that full-text terms select; `None` without terms.
    pub selection: Option<Selection<'a>>,
    /// Whether statements are only displayed, to a caller who may not learn the number of records: then their text does not
    /// depend on that number.
    pub is_only_shown: bool,
}

impl Search<'_> {
    /// The condition of full-text terms in a statement.
    pub fn selected(&self, needs: Needs) -> Selected {
        match &self.selection {
            Some(_) if self.is_only_shown => Selected::by_ids(),
            Some(selection) => selection.selected(self.spi, needs),
            None => Selected::default(),
        }
    }

    /// A statement over all records found; `write` gets their condition.
    pub fn over_all(&self, write: impl FnOnce(&str) -> String) -> Statement {
        let Selected { condition, arguments, are_many } = self.selected(Needs::All);
        Statement { sql: write(&format!("{}{condition}", self.plan.condition)), arguments, are_many }
    }

    /// The statement that reads a segment of the page.
    pub fn page_statement(&self, segment: &Segment, limit: usize) -> Statement {
        let needs = if self.plan.must_sort { Needs::All } else { Needs::First };
        let Selected { condition, arguments, are_many } = self.selected(needs);
        let sql = select(self.template, self.plan, segment, &condition, limit);
        Statement { sql, arguments, are_many }
    }

    /// The statement that counts all records found.
    pub fn count_statement(&self) -> Statement {
        let table = self.template.table_sql();
        self.over_all(|condition| format!("select count(*) from {table} {RECORD} where {condition}"))
    }

    /// Runs a statement.
    pub fn run(&self, statement: &Statement) -> Rows<'_> {
        statement.run(self.spi, "", Snapshot::Active)
    }
}
