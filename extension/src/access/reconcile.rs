//! Policies follow grants wherever that could not be done at once: those of grants that are gone are dropped, missing ones
//! are made. Each table is taken by itself, when it is free.
//!
//! Nothing is open meanwhile: a policy whose grant is gone shows and allows nothing, and without a policy plain SQL sees
//! no row.

use super::binding;
use super::enforcement::{create_policy, drop_named, is_policy_sql};
use super::granted::{COLUMNS, read, read_all};
use super::listed::TABLES;
use super::privileges;
use super::rights::Privilege;
use super::target::Table;
use crate::error::OrRaise;
use crate::postgres::guard::{Caught, as_owner_defining, subtransaction, with_settings};
use crate::postgres::spi::{Access, Connection, connected};
use crate::postgres::{datum, invalidation, role, snapshot_is_fixed, table_lock};
use crate::template::{catalog, ddl};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::PgSqlErrorCode;
use std::collections::BTreeSet;

/// How many tables are taken in passing.
const IN_PASSING: usize = 50;

/// For how long others may be kept waiting for a table that is not free.
const WAIT: &std::ffi::CStr = c"50ms";

/// Whether somebody else was at what an error is about, or the table of locks had no more room.
pub fn is_busy(caught: &Caught) -> bool {
    [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY]
        .contains(&caught.state)
        || caught.state == PgSqlErrorCode::ERRCODE_INTERNAL_ERROR && caught.message.contains("concurrently")
}

/// Makes the policies of so many tables follow. Returns how many tables still wait.
pub fn enforce(maximum: Option<usize>) -> usize {
    if snapshot_is_fixed() || binding::require_state().is_err() {
        return 0;
    }
    as_owner_defining(|| {
        connected(|spi| {
            let waiting = waiting(spi);
            let most = maximum.unwrap_or(usize::MAX).min(table_lock::most_tables());
            waiting.len()
                - waiting.iter().take(most).filter(|template| follow_if_free(spi, **template)).count()
        })
    })
}

/// Makes the policies of some templates follow, as far as their tables are free and there are not too many.
pub fn enforce_on(spi: &Connection, templates: &[i32]) {
    for template in templates.iter().take(IN_PASSING) {
        if !follow_if_free(spi, *template) && templates.len() > 1 {
            return;
        }
    }
}

/// State step 19: policies end with their grants. What is not free now follows when it is.
pub fn bind_policies(spi: &Connection) {
    for template in waiting(spi).into_iter().take(table_lock::most_tables()) {
        follow_if_free(spi, template);
    }
}

/// Waits for the tables on which policies of before state step 19 still show what is not granted any more, and drops them.
pub fn drop_unbound(spi: &Connection, templates: &[i32]) {
    let ids = templates.iter().map(|id| Some(Datum::from(*id))).collect();
    let sql = format!(
        "select distinct t.id from ({}) y, {TABLES} where c.oid = y.polrelid and t.id = any ($1) and not y.is_gated \
         and not exists (select from keyed_state.access_grant g where g.id = y.number) order by t.id",
        policies("true")
    );
    let ids = [(pg_sys::INT4ARRAYOID, datum::array_of(ids, pg_sys::INT4OID))];
    let rows = spi.run_once(&sql, Access::Latest, &ids);
    let open: Vec<i32> = (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)).collect();
    for template in open {
        if let Some((_, table)) = find(spi, template) {
            table_lock::lock_exclusively(&[table.sql]);
            follow(spi, template);
        }
    }
}

/// The templates whose policies are not what was granted: those with policies of no grant, and those without one of a grant.
fn waiting(spi: &Connection) -> Vec<i32> {
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
        let rows = spi.run_once(&sql, Access::Latest, &[]);
        templates.extend((0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)));
    }
    templates.into_iter().collect()
}

/// The policies of grants: `polrelid, polname, number, is_gated, polroles`.
fn policies(condition: &str) -> String {
    format!(
        "select y.polrelid, y.polname, substring(y.polname::text from '[0-9]+$')::integer as number, y.polroles, \
           exists (select from pg_catalog.pg_depend d where d.classid = 'pg_policy'::regclass and d.objid = y.oid \
             and d.refclassid = 'pg_proc'::regclass and d.refobjid = 'keyed.is_granted(integer)'::regprocedure) as is_gated \
         from pg_catalog.pg_policy y where {} and {condition}",
        is_policy_sql("y")
    )
}

fn follow_if_free(spi: &Connection, template: i32) -> bool {
    pgrx::check_for_interrupts!();
    match subtransaction(|| follow(spi, template)) {
        Ok(()) => true,
        Err(caught) if is_busy(&caught) => false,
        Err(caught) => caught.rethrow(),
    }
}

fn follow(spi: &Connection, template: i32) {
    let Some((project, table)) = find(spi, template) else { return };
    with_settings(&[(c"lock_timeout", WAIT)], || {
        spi.script(&format!("lock table {} in access exclusive mode", table.sql));
        privileges::lock(project);
    });
    let of_template =
        [(pg_sys::INT4OID, Some(Datum::from(template))), (pg_sys::INT4OID, Some(Datum::from(project)))];
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g \
         where g.template_id = $1 or g.template_id is null and g.project_id = $2 order by g.id"
    );
    let rows = spi.run_once(&sql, Access::Latest, &of_template);
    let (all, bound) = (read_all(&rows), read(&rows));
    let mut made = Vec::new();
    for policy in of_table(spi, table.oid) {
        let is_granted = all.iter().any(|grant| grant.id == policy.grant);
        if is_granted && policy.is_gated {
            made.push(policy.grant);
            continue;
        }
        drop_named(spi, &policy.name, policy.grant, template, &table.sql);
        for role in policy.roles.into_iter().filter(|role| !is_granted && role::name(*role).is_some()) {
            privileges::restore(spi, role, project, std::slice::from_ref(&table));
        }
    }
    let missing =
        bound.iter().filter(|grant| grant.privilege != Privilege::Define && !made.contains(&grant.id));
    for grant in missing {
        if let Some(template) = catalog::by_id(template) {
            create_policy(spi, grant, &template).or_raise();
        }
    }
    invalidation::announce(table.oid);
}

fn find(spi: &Connection, template: i32) -> Option<(i32, Table)> {
    let sql = format!("select t.project_id, c.oid, p.slug, t.slug from {TABLES} where t.id = $1");
    let rows = spi.run_once(&sql, Access::Latest, &[(pg_sys::INT4OID, Some(Datum::from(template)))]);
    if rows.is_empty() {
        return None;
    }
    let text = |column| rows.get(0, column).map(datum::read_text);
    let oid = Oid::from(rows.get(0, 1)?.value() as u32);
    let table = Table { template, oid, sql: ddl::table_sql(&text(2)?, &text(3)?) };
    Some((rows.get(0, 0).map(datum::read_i32)?, table))
}

/// A policy that a grant has on a table.
struct Made {
    name: String,
    grant: i32,
    is_gated: bool,
    roles: Vec<Oid>,
}

fn of_table(spi: &Connection, table: Oid) -> Vec<Made> {
    let sql = format!(
        "select p.polname::text, p.number, p.is_gated, (select string_agg(r::text, ' ') from unnest(p.polroles) r) \
         from ({}) p",
        policies("y.polrelid = $1")
    );
    let rows = spi.run_once(&sql, Access::Latest, &[(pg_sys::OIDOID, Some(Datum::from(table)))]);
    let made = |row| {
        let roles = rows.get(row, 3).map(datum::read_text).unwrap_or_default();
        Some(Made {
            name: rows.get(row, 0).map(datum::read_text)?,
            grant: rows.get(row, 1).map(datum::read_i32)?,
            is_gated: rows.get(row, 2).is_some_and(datum::read_bool),
            roles: roles.split(' ').filter_map(|role| role.parse::<u32>().ok()).map(Oid::from).collect(),
        })
    };
    (0..rows.len()).filter_map(made).collect()
}
