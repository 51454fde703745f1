//! Statements and conditions that are cached with a template.

use super::Template;
use super::session::evict;
use crate::postgres::condition::Condition;
use crate::postgres::direct_access;
use crate::postgres::guard::as_owner;
use crate::postgres::own_statement;
use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot, connected};
use std::rc::Rc;

impl Template {
    /// Runs a cached statement, see [`Template::plan`].
    pub fn run<'c>(
        &self,
        spi: &'c Connection,
        sql: &str,
        snapshot: Snapshot,
        arguments: &[Parameter],
    ) -> Rows<'c> {
        spi.run(&self.plan(sql, arguments), snapshot, arguments)
    }

    /// The cached statement with this text. Its first use prepares it with the types of these arguments. PostgreSQL
    /// replans it when the table changes. It is dropped with the template.
    pub fn plan(&self, sql: &str, arguments: &[Parameter]) -> Rc<Plan> {
        self.plan_of(sql.as_bytes(), || sql.to_owned(), arguments)
    }

    /// The same with a short cache key, so that the text is built at the first use only.
    pub fn plan_of(&self, key: &[u8], sql: impl FnOnce() -> String, arguments: &[Parameter]) -> Rc<Plan> {
        if let Some(plan) = self.plans.get(key) {
            return plan;
        }
        let plan = Rc::new(connected(|spi| spi.prepare(&sql(), arguments)));
        self.plans.insert(key.to_owned(), Rc::clone(&plan));
        evict();
        plan
    }

    /// Runs a cached statement that writes records of this template, for a function that has checked its caller.
    pub fn write<'c>(&self, spi: &'c Connection, plan: &Plan, arguments: &[Parameter]) -> Rows<'c> {
        own_statement::writing(self.table, || spi.run(plan, Snapshot::Latest, arguments))
    }

    /// The cached condition over the record `t`; `None` for a condition that reads other tables, and while direct access
    /// is disabled. It is dropped with the template.
    pub fn condition(&self, sql: &str) -> Option<Rc<Condition>> {
        direct_access::require().ok()?;
        if let Some(condition) = self.conditions.get(sql) {
            return condition;
        }
        let condition = as_owner(|| Condition::prepare(&self.table_sql(), sql)).map(Rc::new);
        self.conditions.insert(sql.to_owned(), condition.clone());
        evict();
        condition
    }
}
