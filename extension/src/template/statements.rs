//! Statements and conditions that are cached with a template.

use super::Template;
use super::session::make_room;
use crate::postgres::condition::Condition;
use crate::postgres::direct_access;
use crate::postgres::guard::as_owner;
use crate::postgres::own_statement;
use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Connection, Plan, Rows, Snapshot, connected};
use std::rc::Rc;

impl Template {
    /// Runs the cached statement with this text, see [`Template::plan`].
    pub fn run<'c>(
        &self,
        spi: &'c Connection,
        sql: &str,
        snapshot: Snapshot,
        arguments: &[Parameter],
    ) -> Rows<'c> {
        spi.run(&self.plan(sql, arguments), snapshot, arguments)
    }

    /// The cached statement with this text, prepared at its first use for parameters of the types of these arguments.
    /// PostgreSQL plans it again when the table changes; it is dropped with the template.
    pub fn plan(&self, sql: &str, arguments: &[Parameter]) -> Rc<Plan> {
        self.plan_of(sql.as_bytes(), || sql.to_owned(), arguments)
    }

    /// The same for a statement that is known by less than its text, which then is written at its first use only.
    pub fn plan_of(&self, name: &[u8], sql: impl FnOnce() -> String, arguments: &[Parameter]) -> Rc<Plan> {
        if let Some(plan) = self.plans.get(name) {
            return plan;
        }
        let plan = Rc::new(connected(|spi| spi.prepare(&sql(), arguments)));
        self.plans.insert(name.to_owned(), Rc::clone(&plan));
        make_room();
        plan
    }

    /// Runs a kept statement that writes records of this template, in the name of a function that has checked its caller.
    pub fn write<'c>(&self, spi: &'c Connection, plan: &Plan, arguments: &[Parameter]) -> Rows<'c> {
        own_statement::writing(self.table, || spi.run(plan, Snapshot::Latest, arguments))
    }

    /// A condition over the record `t`, prepared at its first use; none for one that looks into other tables too,
    /// and while direct access is switched off. Forgotten with the template, as the statements are.
    pub fn condition(&self, sql: &str) -> Option<Rc<Condition>> {
        direct_access::require().ok()?;
        if let Some(condition) = self.conditions.get(sql) {
            return condition;
        }
        let condition = as_owner(|| Condition::prepare(&self.table_sql(), sql)).map(Rc::new);
        self.conditions.insert(sql.to_owned(), condition.clone());
        make_room();
        condition
    }
}
