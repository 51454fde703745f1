//! Row-level security: the SQL of the policies that enforce a grant in PostgreSQL. Pure.
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

/// Enables row-level security on a table. Before the first grant, rows are visible to administrators only.
pub fn enable(table: &str) -> String {
    format!(
        "alter table {table} enable row level security; \
         create policy keyed_admin on {table} to keyed_admin using (true) with check (true);"
    )
}

/// Enables row-level security on a side table (`name` in the schema of the state): a row is visible if its record is.
pub fn enable_on_side_table(name: &str, table: &str) -> String {
    let side = format!("keyed_state.{name}");
    format!(
        "{} create policy keyed_record on {side} for select \
         using (exists (select from {table} r where r.id = {name}.record_id));",
        enable(&side)
    )
}

/// The table privileges of PostgreSQL that a privilege of keyed needs.
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
    /// The id of the grant.
    pub grant: i32,
    /// The role as an SQL identifier.
    pub role: &'a str,
    /// The privilege.
    pub privilege: Privilege,
    /// The id of the template.
    pub template: i32,
    /// The template's slug.
    pub slug: &'a str,
    /// Its table as a qualified SQL name.
    pub table: &'a str,
    /// The scope; `None` for all rows.
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

    /// Its condition, and the queries on other tables that its functions run.
    fn condition(&self, lives: Lives) -> (String, Vec<String>) {
        let Some(scope) = self.scope else { return ("true".to_owned(), Vec::new()) };
        let options = Options { lives, ..Options::default() };
        render_apart(scope, &identifier(self.slug), options, &|number| self.function(number))
    }

    /// True while the grant exists. A policy cannot be dropped while its table is in use. This check disables it immediately,
    /// also in open transactions and cached plans.
    fn grant_exists(&self) -> String {
        format!("keyed.is_granted({})", self.grant)
    }

    /// The predicate on a deleted record. A deleted record has its key in another column. Conditions on other tables are
    /// the same.
    fn deleted_condition(&self) -> String {
        format!("{} and deleted_at is not null and {}", self.grant_exists(), self.condition(Lives::Deleted).0)
    }

    /// The statement that updates a policy of deletion to the column in which deleted records have their keys.
    pub fn alter_deletion(&self) -> String {
        format!("alter policy {} on {} with check ({})", self.name(), self.table, self.deleted_condition())
    }

    /// The statements that create the policy and its functions.
    pub fn create(&self) -> String {
        let Policy { role, table, .. } = self;
        let name = self.name();
        let (condition, queries) = self.condition(Lives::Live);
        let mut sql = String::new();
        for (number, query) in queries.iter().enumerate() {
            let function = self.function(number);
            // SECURITY DEFINER, because the role may lack privileges on the tables that its scope reads. The function
            // overrides gin_fuzzy_search_limit: an incomplete scan of excluded rows would make them visible.
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
        let grant_exists = self.grant_exists();
        let live = format!("{grant_exists} and deleted_at is null and {condition}");
        match self.privilege {
            Privilege::Read => policy("", &format!("for select to {role} using ({live})")),
            Privilege::Create => {
                policy("", &format!("for insert to {role} with check ({grant_exists} and {condition})"));
            }
            Privilege::Update => {
                policy("", &format!("for update to {role} using ({live}) with check ({live})"));
            }
            // A deletion sets deleted_at, and PostgreSQL requires that the new row is visible to the writer. The second
            // policy makes it visible during the deletion.
            Privilege::Delete => {
                let deleted = self.deleted_condition();
                policy("", &format!("for update to {role} using ({live}) with check ({deleted})"));
                let now = "deleted_at = pg_catalog.now() and keyed.is_being_deleted(id)";
                policy("_seen", &format!("for select to {role} using ({now})"));
            }
            Privilege::Define => {}
        }
        sql
    }
}

/// The statements that drop a policy and its functions.
pub fn drop(name: &str, table: &str, functions: &[String]) -> String {
    let mut sql =
        format!("drop policy if exists {name} on {table}; drop policy if exists {name}_seen on {table}; ");
    for function in functions {
        let _ = write!(sql, "drop function {function}(); ");
    }
    sql
}

/// The prefix of the names of a policy's functions.
pub fn function_prefix(grant: i32, template: i32) -> String {
    format!("grant_{grant}_{template}_")
}
