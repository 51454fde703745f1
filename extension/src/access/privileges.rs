//! Privileges of PostgreSQL on tables of templates. To give or take one locks no table: it is noted in the catalog.

use super::binding;
use super::enforcement::role_sql;
use super::policy;
use super::rights::Privilege;
use super::target::Table;
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{self, Kind, Mode};
use crate::postgres::datum;
use crate::postgres::guard::{Class, subtransaction};
use crate::postgres::spi::{Access, Connection};
use crate::quote::identifier;
use pgrx::pg_sys::{self, Datum, Oid};

/// How many tables one statement is about.
const AT_ONCE: usize = 100;

/// With fewer roles that have rights on a table, it is something else that has become too long.
const MANY_RIGHTS: i64 = 1000;

/// Lets nobody else give or take privileges in a project until the (sub)transaction ends: PostgreSQL refuses the later of
/// two changes of one table's privileges.
pub fn lock(project: i32) {
    advisory_lock::lock(Kind::Privileges, project as u64, Mode::Exclusive);
}

/// Gives a role what the privileges of ours need.
pub fn give(spi: &Connection, role: Oid, tables: &[Table], privileges: &[Privilege]) -> Result<(), Error> {
    let role = role_sql(role);
    for some in tables.chunks(AT_ONCE) {
        for needed in privileges.iter().filter_map(|privilege| policy::table_privileges(*privilege)) {
            let give = || spi.script(&format!("grant {needed} on {} to {role}", names(some)));
            // PostgreSQL keeps who may do what with a table in its row of pg_class, which must fit into a page.
            subtransaction(give).map_err(|caught| {
                if caught.class() != Class::ProgramLimit || rights_on(spi, some) < MANY_RIGHTS {
                    caught.rethrow();
                }
                let message = format!(
                    "PostgreSQL cannot keep the rights of more roles on {}: {}",
                    if some.len() == 1 { names(some) } else { "a table of the project".to_owned() },
                    caught.message
                );
                Error::new(Code::PayloadTooLarge, message).hint(
                    "grant to a role that stands for a group, and make others its members: GRANT clerks TO …",
                )
            })?;
        }
    }
    Ok(())
}

/// Leaves a role what its other grants on tables of a project need.
pub fn restore(spi: &Connection, role: Oid, project: i32, tables: &[Table]) {
    let sql = format!(
        "select distinct g.privilege, g.template_id from keyed_state.access_grant g \
         where g.role = $1 and g.project_id = $2 and {}",
        binding::is_bound_sql("g")
    );
    let arguments =
        [(pg_sys::REGROLEOID, Some(Datum::from(role))), (pg_sys::INT4OID, Some(Datum::from(project)))];
    let rows = spi.run_once(&sql, Access::Latest, &arguments);
    let kept: Vec<(&str, Option<i32>)> = (0..rows.len())
        .filter_map(|row| {
            let privilege = Privilege::parse(&rows.get(row, 0).map(datum::read_text)?)?;
            Some((policy::table_privileges(privilege)?, rows.get(row, 1).map(datum::read_i32)))
        })
        .collect();
    let role = role_sql(role);
    for some in tables.chunks(AT_ONCE) {
        pgrx::check_for_interrupts!();
        spi.script(&format!("revoke all on {} from {role}", names(some)));
        for (needed, template) in &kept {
            let some = some.iter().filter(|table| template.is_none_or(|template| template == table.template));
            let names: Vec<&str> = some.map(|table| table.sql.as_str()).collect();
            if !names.is_empty() {
                spi.script(&format!("grant {needed} on {} to {role}", names.join(", ")));
            }
        }
    }
}

/// Whether a role was granted something else in a project, or was given something in its schema by hand.
pub fn needs_schema(spi: &Connection, role: Oid, project: i32, slug: &str) -> bool {
    let sql = "with acls (acl) as ( \
                 select c.relacl from pg_catalog.pg_class c where c.relnamespace = pg_catalog.to_regnamespace($3) \
                 union all select a.attacl from pg_catalog.pg_attribute a \
                   join pg_catalog.pg_class c on c.oid = a.attrelid \
                   where c.relnamespace = pg_catalog.to_regnamespace($3) \
                 union all select p.proacl from pg_catalog.pg_proc p where p.pronamespace = pg_catalog.to_regnamespace($3) \
                 union all select t.typacl from pg_catalog.pg_type t where t.typnamespace = pg_catalog.to_regnamespace($3)) \
               select from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
                 and keyed.is_bound(g.role::oid, g.role_name, g.bound_in, g.tableoid) \
               union all select from acls, pg_catalog.aclexplode(acls.acl) given where given.grantee = $1::oid \
               limit 1";
    let arguments = [
        (pg_sys::REGROLEOID, Some(Datum::from(role))),
        (pg_sys::INT4OID, Some(Datum::from(project))),
        (pg_sys::TEXTOID, datum::text(&identifier(slug))),
    ];
    !spi.run_once(sql, Access::Latest, &arguments).is_empty()
}

/// How many roles have rights on the table that has the most.
fn rights_on(spi: &Connection, tables: &[Table]) -> i64 {
    let oids = tables.iter().map(|table| Some(Datum::from(table.oid))).collect();
    let sql = "select max(pg_catalog.cardinality(c.relacl))::bigint from pg_catalog.pg_class c where c.oid = any ($1)";
    let tables = [(pg_sys::OIDARRAYOID, datum::array_of(oids, pg_sys::OIDOID))];
    spi.run_once(sql, Access::Latest, &tables).get(0, 0).map_or(0, datum::read_i64)
}

fn names(tables: &[Table]) -> String {
    tables.iter().map(|table| table.sql.as_str()).collect::<Vec<_>>().join(", ")
}
