//! Row-level security: the SQL of the policies that enforce a grant in PostgreSQL. Pure text.
//!
//! A policy applies to plain SQL the same predicate that functions add to their statements. Conditions on other
//! tables call functions that run as the owner, because a policy runs with the privileges of the reader.

use super::privilege::Privilege;
use crate::filter::Filter;
use crate::filter::render::{Lives, Options, render_apart};
use crate::value::quote::identifier;
use std::fmt::Write as _;

/// The schema of the functions that policies call. No role has USAGE on it, so nothing else can call them.
pub const SCHEMA: &str = "keyed_scope";

/// Enables row-level security on a table: before the first grant, only administrators see rows.
pub fn enable(table: &str) -> String {
    format!(
        "alter table {table} enable row level security; \
         create policy keyed_admin on {table} to keyed_admin using (true) with check (true);"
    )
}

/// Enables row-level security on a side table (`name` in the schema of the state): a row is visible if its record is.
pub fn enable_beside(name: &str, table: &str) -> String {
    let side = format!("keyed_state.{name}");
    format!(
        "{} create policy keyed_record on {side} for select \
         using (exists (select from {table} r where r.id = {name}.record_id));",
        enable(&side)
    )
}

/// The privileges of PostgreSQL on a table that a privilege of ours needs.
pub fn table_privileges(privilege: Privilege) -> Option<&'static str> {
    match privilege {
        Privilege::Read => Some("select"),
        Privilege::Create => Some("insert"),
        Privilege::Update => Some("update"),
        Privilege::Delete => Some("delete, update (deleted_at)"),
        Privilege::Define => None,
    }
}

/// One privilege of one role on one table.
pub struct Policy<'a> {
    /// The number of the grant.
    pub grant: i32,
    /// The role, as SQL names it.
    pub role: &'a str,
    /// What is granted.
    pub privilege: Privilege,
    /// The number of the template.
    pub template: i32,
    /// The template's slug.
    pub slug: &'a str,
    /// Its table, as SQL names it.
    pub table: &'a str,
    /// On which rows; `None` for all.
    pub scope: Option<&'a Filter>,
}

impl Policy<'_> {
    /// Its name on the table; a second policy for the same grant has a suffix.
    pub fn name(&self) -> String {
        format!("keyed_{}_{}", self.privilege.name(), self.grant)
    }

    fn function(&self, number: usize) -> String {
        format!("{SCHEMA}.{}{number}", function_prefix(self.grant, self.template))
    }

    /// Its condition, and the queries of other tables that its functions run.
    fn condition(&self, lives: Lives) -> (String, Vec<String>) {
        let Some(scope) = self.scope else { return ("true".to_owned(), Vec::new()) };
        let options = Options { lives, ..Options::default() };
        render_apart(scope, &identifier(self.slug), options, &|number| self.function(number))
    }

    /// True while the grant exists. A policy cannot be dropped while its table is in use; this check ends it at once,
    /// also in open transactions and cached plans.
    fn gate(&self) -> String {
        format!("keyed.is_granted({})", self.grant)
    }

    /// The predicate of a deleted record. Its key is in another column then; conditions on other tables are the same.
    fn dead(&self) -> String {
        format!("{} and deleted_at is not null and {}", self.gate(), self.condition(Lives::Deleted).0)
    }

    /// The statement that makes a policy of deletion look for the key where a deleted record has it.
    pub fn renew_deletion(&self) -> String {
        format!("alter policy {} on {} with check ({})", self.name(), self.table, self.dead())
    }

    /// The statements that make it.
    pub fn create(&self) -> String {
        let Policy { role, table, .. } = self;
        let name = self.name();
        let (condition, queries) = self.condition(Lives::Live);
        let mut sql = String::new();
        for (number, query) in queries.iter().enumerate() {
            let function = self.function(number);
            // Runs as the owner, because the role may have no right to the tables that its scope looks at. Its scans are
            // complete whatever the session has set: an excluded set that lacks rows would show them.
            let _ = write!(
                sql,
                "create function {function}() returns setof uuid language sql stable parallel safe security definer \
                 set search_path = pg_catalog, pg_temp set gin_fuzzy_search_limit = 0 begin atomic {query}; end; \
                 comment on function {function}() is 'Part of the policy {name} on {table}.'; \
                 revoke execute on function {function}() from public; \
                 grant execute on function {function}() to {role}; "
            );
        }
        let mut policy = |suffix: &str, rest: &str| {
            let _ = write!(sql, "create policy {name}{suffix} on {table} {rest}; ");
        };
        let gate = self.gate();
        let live = format!("{gate} and deleted_at is null and {condition}");
        match self.privilege {
            Privilege::Read => policy("", &format!("for select to {role} using ({live})")),
            Privilege::Create => {
                policy("", &format!("for insert to {role} with check ({gate} and {condition})"));
            }
            Privilege::Update => {
                policy("", &format!("for update to {role} using ({live}) with check ({live})"));
            }
            // Deleting sets deleted_at, and PostgreSQL requires that the writer can see the new row: this policy
            // shows it at that moment.
            Privilege::Delete => {
                let dead = self.dead();
                policy("", &format!("for update to {role} using ({live}) with check ({dead})"));
                let now = "deleted_at = pg_catalog.now() and keyed.is_being_deleted(id)";
                policy("_seen", &format!("for select to {role} using ({now})"));
            }
            Privilege::Define => {}
        }
        sql
    }
}

/// The statements that take a policy away; what it needs is dropped with it.
pub fn drop(name: &str, table: &str, functions: &[String]) -> String {
    let mut sql =
        format!("drop policy if exists {name} on {table}; drop policy if exists {name}_seen on {table}; ");
    for function in functions {
        let _ = write!(sql, "drop function {function}(); ");
    }
    sql
}

/// What the names of the functions of a policy begin with.
pub fn function_prefix(grant: i32, template: i32) -> String {
    format!("grant_{grant}_{template}_")
}
