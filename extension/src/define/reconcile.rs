//! Updates policies that could not be updated immediately: drops those without a grant, creates missing ones. Each table
//! is locked separately, when it is free.
//!
//! Pending tables are safe: a policy without a grant allows nothing, and without a policy no row is visible to plain
//! SQL.
//!
//! A table stays locked until the transaction ends, so `keyed.enforce_grants` does not wait for a table while it holds
//! another. It updates free tables first, for a limited time, and waits for a busy one only if none was free. So a table
//! in constant use does not block others.

use super::dependents;
use crate::access::privilege::Privilege;
use crate::access::stored_grant::{COLUMNS, Grant, read, read_all};
use crate::access::table_policies::{create_policy, drop_named, is_policy_sql};
use crate::access::target::Table;
use crate::access::template_list::TABLES;
use crate::access::{binding, privileges};
use crate::postgres::caught::{Attempt, Caught};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::raise::OrRaise;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::{random, role, snapshot, table_lock};
use crate::template::catalog;
use crate::value::table_name::table_sql;
use pgrx::pg_sys::Oid;
use pgrx::prelude::PgSqlErrorCode;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The maximum number of tables that a grant or revocation updates immediately.
const MAX_SYNCED_TABLES: usize = 50;

/// The lock timeout. Other sessions queue behind the lock request.
const LOCK_TIMEOUT: &CStr = c"50ms";

/// The maximum time for locking more free tables, and for trying busy ones.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// How to wait for the lock on a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// NOWAIT.
    No,
    /// Up to [`LOCK_TIMEOUT`].
    Briefly,
}

/// The errors of a lock timeout, of a full lock table, and of a concurrent update of a catalog row.
const BUSY: [PgSqlErrorCode; 3] = [
    PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
    PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
    PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
];

/// The result, or `None` after an error that is due to concurrent transactions.
pub fn unless_busy<R>(attempt: Attempt<R>) -> Option<R> {
    let is_busy = |caught: &Caught| {
        let is_internal = caught.state == PgSqlErrorCode::ERRCODE_INTERNAL_ERROR;
        caught.is_any_of(&BUSY) && (!is_internal || caught.message.contains("concurrently"))
    };
    attempt.catch_also(&BUSY, |caught| is_busy(caught).then_some(())).ok()
}

/// Updates the policies of free tables, up to a maximum. Returns the number of updated tables.
pub fn enforce_on(spi: &Connection, tables: &[Table]) -> usize {
    let syncs = |table: &&Table| sync_if_free(spi, table.template, Wait::Briefly).is_some();
    if let [only] = tables {
        return usize::from(syncs(&only));
    }
    tables.iter().take(MAX_SYNCED_TABLES).take_while(syncs).count()
}

/// Updates the policies of at most this many tables. Returns the number of tables that remain.
pub fn enforce(maximum: Option<usize>) -> usize {
    if snapshot::is_fixed() || binding::require_state().is_err() {
        return 0;
    }
    as_owner_defining(|| {
        connected(|spi| {
            let mut templates = pending(spi);
            let limit = maximum.unwrap_or(usize::MAX).min(table_lock::max_tables()).min(templates.len());
            if limit == 0 {
                return templates.len();
            }
            // A random start, so that no table is always last.
            let first = random::next_u64() % templates.len() as u64;
            templates.rotate_left(first as usize);
            let mut done = sync_free_tables(spi, &templates, limit);
            if done.is_empty() {
                done.extend(sync_busy_table(spi, &templates));
            }
            let remaining = templates.len() - done.len();
            revoke_schemas(spi, done.into_iter().flatten().collect());
            remaining
        })
    })
}

/// Updates the policies of tables that are not in use. Returns the roles that lost privileges on each.
fn sync_free_tables(spi: &Connection, templates: &[i32], limit: usize) -> Vec<Vec<Loser>> {
    let mut done = Vec::new();
    let mut locked_since: Option<Instant> = None;
    for template in templates {
        if done.len() == limit || locked_since.is_some_and(|since| since.elapsed() >= TIME_LIMIT) {
            break;
        }
        if let Some(losers) = sync_if_free(spi, *template, Wait::No) {
            done.push(losers);
            locked_since.get_or_insert_with(Instant::now);
        }
    }
    done
}

/// Waits for tables, one after another, until one can be locked.
fn sync_busy_table(spi: &Connection, templates: &[i32]) -> Option<Vec<Loser>> {
    let began = Instant::now();
    let mut tried = templates.iter().take_while(|_| began.elapsed() < TIME_LIMIT);
    tried.find_map(|template| sync_if_free(spi, *template, Wait::Briefly))
}

/// Revokes USAGE on the schemas of projects from roles without other privileges there, unless they are locked.
fn revoke_schemas(spi: &Connection, losers: BTreeSet<Loser>) {
    for (role, project) in losers {
        let Some(project) = catalog::project_by_id(project) else { continue };
        let revoke = || privileges::revoke_schema(spi, Oid::from(role), &project, &[]);
        unless_busy(subtransaction(|| with_settings(&[(c"lock_timeout", c"50ms")], revoke)));
    }
}

/// Migration 19: replaces policies by those that check their grants. Busy tables follow later.
pub fn migrate_policies(spi: &Connection) {
    for template in pending(spi).into_iter().take(table_lock::max_tables()) {
        sync_if_free(spi, template, Wait::Briefly);
    }
}

/// Replaces policies from before migration 19, which do not check their grants and so would outlast a revocation. Waits
/// for the tables.
pub fn drop_unchecked(spi: &Connection, project: i32, tables: &[&Table]) {
    for table in tables {
        table_lock::lock_exclusively(std::slice::from_ref(&table.sql));
        sync_locked(spi, project, table);
    }
}

/// The tables with policies of these grants, each with whether all of these policies check their grants.
pub fn tables_with_policies_of(spi: &Connection, grants: &[Grant]) -> HashMap<Oid, bool> {
    let name = |grant: &Grant| format!("keyed_{}_{}", grant.privilege.name(), grant.id);
    let names: Vec<String> = grants.iter().map(name).collect();
    let sql = format!(
        "select p.polrelid, bool_and(p.checks_grant) from ({}) p group by p.polrelid",
        policies("y.polname = any ($1::name[])")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![names]);
    rows.iter().collect()
}

/// The templates with pending policies: with a policy that has no grant, or with a grant that has no policy.
pub fn pending(spi: &Connection) -> Vec<i32> {
    let superfluous = format!(
        "with left_over as (select distinct y.polrelid from ({}) y \
           left join keyed_state.access_grant g on g.id = y.number where g.id is null or not y.checks_grant) \
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
    for sql in [superfluous, missing] {
        let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
        templates.extend(rows.column::<i32>());
    }
    templates.into_iter().collect()
}

/// The policies of grants: `polrelid, polname, number, checks_grant, polroles`. A scalar subquery instead of `exists`,
/// for which PostgreSQL would hash all policies of the database for each table.
fn policies(condition: &str) -> String {
    format!(
        "select y.polrelid, y.polname, substring(y.polname::text from '[0-9]+$')::integer as number, y.polroles, \
           coalesce((select true from pg_catalog.pg_depend d where d.classid = 'pg_policy'::regclass and d.objid = y.oid \
             and d.refclassid = 'pg_proc'::regclass and d.refobjid = 'keyed.is_granted(integer)'::regprocedure limit 1), \
             false) as checks_grant \
         from pg_catalog.pg_policy y where {} and {condition}",
        is_policy_sql("y")
    )
}

/// A role that lost privileges on a table, and the id of the project.
pub type Loser = (u32, i32);

/// Updates the policies of a table. Returns the roles that lost privileges, or `None` if the table is in use.
pub fn sync_if_free(spi: &Connection, template: i32, wait: Wait) -> Option<Vec<Loser>> {
    pgrx::check_for_interrupts!();
    unless_busy(subtransaction(|| sync(spi, template, wait)))
}

fn sync(spi: &Connection, template: i32, wait: Wait) -> Vec<Loser> {
    let Some((project, table)) = find(spi, template) else { return Vec::new() };
    let (timeout, option) = match wait {
        Wait::No => (c"1ms", " nowait"),
        Wait::Briefly => (LOCK_TIMEOUT, ""),
    };
    with_settings(&[(c"lock_timeout", timeout)], || {
        spi.script(&format!("lock table {} in access exclusive mode{option}", table.sql));
        privileges::lock(project);
    });
    // A scope may read other tables, and another session may change the privileges of this table.
    with_settings(&[(c"lock_timeout", LOCK_TIMEOUT)], || sync_locked(spi, project, &table))
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
    let (mut with_policy, mut losers) = (Vec::new(), BTreeSet::new());
    for policy in of_table(spi, table.oid) {
        let is_granted = all.iter().any(|grant| grant.id == policy.grant);
        if is_granted && policy.checks_grant {
            with_policy.push(policy.grant);
            continue;
        }
        drop_named(spi, &policy.name, policy.grant, template, &table.sql);
        if !is_granted {
            // A role with a new grant of the same privilege keeps it.
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
        bound.iter().filter(|grant| grant.privilege != Privilege::Define && !with_policy.contains(&grant.id));
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

/// An existing policy of a grant.
struct ExistingPolicy {
    name: String,
    grant: i32,
    checks_grant: bool,
    roles: Vec<Oid>,
}

impl ExistingPolicy {
    fn is_of(&self, privilege: Privilege) -> bool {
        self.name == format!("keyed_{}_{}", privilege.name(), self.grant)
    }
}

/// The policies of grants on a table. No column can be null: the names end with a number, and each policy has a role, 0
/// for PUBLIC.
fn of_table(spi: &Connection, table: Oid) -> Vec<ExistingPolicy> {
    let sql = format!(
        "select p.polname::text, p.number, p.checks_grant, (select string_agg(r::text, ' ') from unnest(p.polroles) r) \
         from ({}) p",
        policies("y.polrelid = $1")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![table]);
    let policy = |(name, grant, checks_grant, roles): (String, i32, bool, String)| ExistingPolicy {
        name,
        grant,
        checks_grant,
        roles: roles.split(' ').filter_map(|it| it.parse::<u32>().ok()).map(Oid::from).collect(),
    };
    rows.iter().map(policy).collect()
}
