//! Updates policies that could not be updated at once: drops those without a grant, creates missing ones. Each table
//! is locked separately, when it is free.
//!
//! Pending tables are safe: a policy without a grant allows nothing, and without a policy plain SQL sees no row.

use super::dependents;
use crate::access::privilege::Privilege;
use crate::access::stored_grant::{COLUMNS, Grant, read, read_all};
use crate::access::table_policies::{create_policy, drop_named, is_policy_sql};
use crate::access::target::Table;
use crate::access::template_list::TABLES;
use crate::access::{binding, privileges};
use crate::postgres::caught::{Attempt, Caught};
use crate::postgres::guard::{subtransaction, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::{role, table_lock};
use crate::template::catalog;
use crate::value::table_name::table_sql;
use pgrx::pg_sys::Oid;
use pgrx::prelude::PgSqlErrorCode;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;

/// How many tables are taken in passing.
const IN_PASSING: usize = 50;

/// For how long others may be kept waiting for a table that is not free.
const MOMENT: &CStr = c"50ms";

/// How to wait for a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It is taken if it is free.
    Not,
    /// It is waited for a moment, and others wait behind.
    Moment,
}

/// The errors of a lock conflict, of a full lock table, and of a row of the catalog that others change.
const BUSY: [PgSqlErrorCode; 3] = [
    PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
    PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
    PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
];

/// The result, or nothing where other transactions use what is needed.
pub fn unless_busy<R>(attempt: Attempt<R>) -> Option<R> {
    let is_busy = |caught: &Caught| {
        let is_internal = caught.state == PgSqlErrorCode::ERRCODE_INTERNAL_ERROR;
        caught.is_any_of(&BUSY) && (!is_internal || caught.message.contains("concurrently"))
    };
    attempt.catch_also(&BUSY, |caught| is_busy(caught).then_some(())).ok()
}

/// Makes the policies of some templates follow, as far as their tables are free and there are not too many. Returns how many
/// do.
pub fn enforce_on(spi: &Connection, tables: &[Table]) -> usize {
    let syncs = |table: &&Table| sync_if_free(spi, table.template, Wait::Moment).is_some();
    if let [only] = tables {
        return usize::from(syncs(&only));
    }
    tables.iter().take(IN_PASSING).take_while(syncs).count()
}

/// State step 19: policies end with their grants. What is not free now follows when it is.
pub fn bind_policies(spi: &Connection) {
    for template in waiting(spi).into_iter().take(table_lock::most_tables()) {
        sync_if_free(spi, template, Wait::Moment);
    }
}

/// Waits for tables on which policies of before state step 19 still show what is not granted any more, and drops them.
pub fn drop_unbound(spi: &Connection, project: i32, tables: &[&Table]) {
    for table in tables {
        table_lock::lock_exclusively(std::slice::from_ref(&table.sql));
        sync_locked(spi, project, table);
    }
}

/// The tables on which the policies of some grants still are, each with whether these end with their grants.
pub fn with_policies_of(spi: &Connection, grants: &[Grant]) -> HashMap<Oid, bool> {
    let name = |grant: &Grant| format!("keyed_{}_{}", grant.privilege.name(), grant.id);
    let names: Vec<String> = grants.iter().map(name).collect();
    let sql = format!(
        "select p.polrelid, bool_and(p.is_gated) from ({}) p group by p.polrelid",
        policies("y.polname = any ($1::name[])")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![names]);
    rows.iter().collect()
}

/// The templates whose policies are not what was granted: those with policies of no grant, and those without one of a grant.
pub fn waiting(spi: &Connection) -> Vec<i32> {
    let left = format!(
        "with left_over as (select distinct y.polrelid from ({}) y \
           left join keyed_state.access_grant g on g.id = y.number where g.id is null or not y.is_gated) \
         select t.id from left_over o join pg_catalog.pg_class c on c.oid = o.polrelid \
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         join keyed_state.project p on p.slug = n.nspname::text \
         join keyed_state.template t on t.project_id = p.id and t.slug = c.relname::text",
        policies("true"),
    );
    let missing = format!(
        "select distinct t.id from keyed_state.access_grant g, {TABLES} \
         where g.project_id = t.project_id and (g.template_id is null or g.template_id = t.id) \
         and g.privilege <> 'define' and {} and not exists (select from pg_catalog.pg_policy y \
           where y.polrelid = c.oid and y.polname = ('keyed_' || g.privilege || '_' || g.id)::pg_catalog.name)",
        binding::is_bound_sql("g")
    );
    let mut templates = BTreeSet::new();
    for sql in [left, missing] {
        let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
        templates.extend(rows.column::<i32>());
    }
    templates.into_iter().collect()
}

/// The policies of grants: `polrelid, polname, number, is_gated, polroles`. For `exists` PostgreSQL would put all policies of
/// the database into a hash table first, once for each table.
fn policies(condition: &str) -> String {
    format!(
        "select y.polrelid, y.polname, substring(y.polname::text from '[0-9]+$')::integer as number, y.polroles, \
           coalesce((select true from pg_catalog.pg_depend d where d.classid = 'pg_policy'::regclass and d.objid = y.oid \
             and d.refclassid = 'pg_proc'::regclass and d.refobjid = 'keyed.is_granted(integer)'::regprocedure limit 1), \
             false) as is_gated \
         from pg_catalog.pg_policy y where {} and {condition}",
        is_policy_sql("y")
    )
}

/// A role that lost its privileges on a table, and the number of the project.
pub type Loser = (u32, i32);

/// Who lost what on the table, or nothing where others use it.
pub fn sync_if_free(spi: &Connection, template: i32, wait: Wait) -> Option<Vec<Loser>> {
    pgrx::check_for_interrupts!();
    unless_busy(subtransaction(|| sync(spi, template, wait)))
}

fn sync(spi: &Connection, template: i32, wait: Wait) -> Vec<Loser> {
    let Some((project, table)) = find(spi, template) else { return Vec::new() };
    let (longest, option) = match wait {
        Wait::Not => (c"1ms", " nowait"),
        Wait::Moment => (MOMENT, ""),
    };
    with_settings(&[(c"lock_timeout", longest)], || {
        spi.script(&format!("lock table {} in access exclusive mode{option}", table.sql));
        privileges::lock(project);
    });
    // A scope may use other tables, and others may change the privileges of this one directly.
    with_settings(&[(c"lock_timeout", MOMENT)], || sync_locked(spi, project, &table))
}

/// Updates the policies of a table that this transaction has locked: drops those without a grant, creates missing
/// ones.
pub fn sync_locked(spi: &Connection, project: i32, table: &Table) -> Vec<Loser> {
    let template = table.template;
    let of_template = params![template, project];
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g \
         where g.template_id = $1 or g.template_id is null and g.project_id = $2 order by g.id"
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &of_template);
    let (all, bound) = (read_all(&rows), read(&rows));
    let (mut made, mut losers) = (Vec::new(), BTreeSet::new());
    for policy in of_table(spi, table.oid) {
        let is_granted = all.iter().any(|grant| grant.id == policy.grant);
        if is_granted && policy.is_gated {
            made.push(policy.grant);
            continue;
        }
        drop_named(spi, &policy.name, policy.grant, template, &table.sql);
        if !is_granted {
            // A role that was granted the same again keeps it.
            let keeps =
                |role: &Oid| bound.iter().any(|grant| grant.role == *role && policy.is_of(grant.privilege));
            let lost = policy.roles.iter().filter(|role| role::name(**role).is_some() && !keeps(role));
            losers.extend(lost.map(|role| (role.to_u32(), project)));
        }
    }
    for (role, _) in &losers {
        privileges::revoke_unused(spi, Oid::from(*role), project, &[table]);
    }
    if !losers.is_empty() {
        dependents::after_grants(spi, &[template]);
    }
    let missing =
        bound.iter().filter(|grant| grant.privilege != Privilege::Define && !made.contains(&grant.id));
    for grant in missing {
        if let Some(template) = catalog::by_id(template) {
            create_policy(spi, grant, &template).or_raise();
        }
    }
    losers.into_iter().collect()
}

fn find(spi: &Connection, template: i32) -> Option<(i32, Table)> {
    let sql = format!("select t.project_id, c.oid, p.slug, t.slug from {TABLES} where t.id = $1");
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![template]);
    let (project, oid, project_slug, slug) = rows.first::<(i32, Oid, String, String)>()?;
    Some((project, Table { template, oid, sql: table_sql(&project_slug, &slug) }))
}

/// A policy that a grant has on a table.
struct Made {
    name: String,
    grant: i32,
    is_gated: bool,
    roles: Vec<Oid>,
}

impl Made {
    fn is_of(&self, privilege: Privilege) -> bool {
        self.name == format!("keyed_{}_{}", privilege.name(), self.grant)
    }
}

/// The policies of grants on a table. None of the columns can be null: their names end with a number, and each policy has a
/// role, 0 for everyone.
fn of_table(spi: &Connection, table: Oid) -> Vec<Made> {
    let sql = format!(
        "select p.polname::text, p.number, p.is_gated, (select string_agg(r::text, ' ') from unnest(p.polroles) r) \
         from ({}) p",
        policies("y.polrelid = $1")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![table]);
    let made = |(name, grant, is_gated, roles): (String, i32, bool, String)| Made {
        name,
        grant,
        is_gated,
        roles: roles.split(' ').filter_map(|it| it.parse::<u32>().ok()).map(Oid::from).collect(),
    };
    rows.iter().map(made).collect()
}
