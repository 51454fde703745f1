//! PostgreSQL's privileges on the tables of templates. GRANT and REVOKE change the catalog only and lock no table.

use super::privilege::Privilege;
use super::target::Table;
use super::{binding, policy_sql};
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::caught::Class;
use crate::postgres::guard::subtransaction;
use crate::postgres::parameter::{RegRole, array, params};
use crate::postgres::role;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::catalog::Project;
use crate::value::quote::identifier;
use pgrx::pg_sys::Oid;

/// The number of tables in one GRANT or REVOKE.
const TABLES_PER_STATEMENT: usize = 100;

/// The minimum number of ACL entries of a table for which a program limit error is attributed to the ACL.
const LARGE_ACL: i64 = 1000;

/// A role as an SQL identifier.
pub fn role_sql(role: Oid) -> String {
    identifier(&role::name(role).unwrap_or_default())
}

/// Locks the privileges of a project until the (sub)transaction ends. Without the lock, the later of two concurrent
/// changes of an ACL fails with "tuple concurrently updated".
pub fn lock(project: i32) {
    advisory_lock::lock(LockKind::Privileges, project as u64, Mode::Exclusive);
}

/// Grants a role the table privileges that privileges of keyed need.
pub fn grant(spi: &Connection, role: Oid, tables: &[Table], privileges: &[Privilege]) -> Result<(), Error> {
    let role = role_sql(role);
    for some in tables.chunks(TABLES_PER_STATEMENT) {
        for needed in privileges.iter().filter_map(|privilege| policy_sql::table_privileges(*privilege)) {
            let grant = || spi.script(&format!("grant {needed} on {} to {role}", names(some)));
            // The ACL of a table is in its row of pg_class, which must fit into a page.
            subtransaction(grant).catch(|caught| {
                if caught.class() != Class::ProgramLimit || longest_acl(spi, some) < LARGE_ACL {
                    return None;
                }
                let message = format!(
                    "the access control list of {} is full: {}",
                    if some.len() == 1 { names(some) } else { "a table of the project".to_owned() },
                    caught.message
                );
                let error = Error::new(Code::PayloadTooLarge, message);
                Some(error.hint(
                    "Grant to a group role, and make the other roles its members with GRANT clerks TO ….",
                ))
            })?;
        }
    }
    Ok(())
}

/// Revokes the table privileges of a role except those that its remaining grants in the project need.
pub fn revoke_unused(spi: &Connection, role: Oid, project: i32, tables: &[&Table]) {
    let sql = format!(
        "select distinct g.privilege, g.template_id from keyed_state.access_grant g \
         where g.role = $1 and g.project_id = $2 and {}",
        binding::is_bound_sql("g")
    );
    let arguments = params![RegRole(role), project];
    let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
    let kept: Vec<(&str, Option<i32>)> = (0..rows.len())
        .filter_map(|row| {
            let privilege = Privilege::parse(&rows.get::<Option<String>>(row, 0)?)?;
            Some((policy_sql::table_privileges(privilege)?, rows.get::<Option<i32>>(row, 1)))
        })
        .collect();
    let role = role_sql(role);
    for some in tables.chunks(TABLES_PER_STATEMENT) {
        pgrx::check_for_interrupts!();
        let names: Vec<&str> = some.iter().map(|table| table.sql.as_str()).collect();
        spi.script(&format!("revoke all on {} from {role}", names.join(", ")));
        for (needed, template) in &kept {
            let some = some.iter().filter(|table| template.is_none_or(|template| template == table.template));
            let names: Vec<&str> = some.map(|table| table.sql.as_str()).collect();
            if !names.is_empty() {
                spi.script(&format!("grant {needed} on {} to {role}", names.join(", ")));
            }
        }
    }
}

/// Revokes USAGE on the schema of a project from a role that has no other grant or privilege in it. Privileges on tables
/// whose revocation is pending do not count.
pub fn revoke_schema(spi: &Connection, role: Oid, project: &Project, waiting: &[&Table]) {
    // Reads the role's entries in pg_shdepend, because a schema may have many objects.
    let sql = "with waiting (oid) as (select unnest($4::oid[])), \
               held as (select d.classid, d.objid from pg_catalog.pg_shdepend d where d.refobjid = $1::oid \
                 and d.refclassid = 'pg_authid'::regclass and d.deptype in ('a', 'o') and d.dbid = (select b.oid \
                   from pg_catalog.pg_database b where b.datname = pg_catalog.current_database())) \
               select from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
                 and keyed.is_bound(g.role::oid, g.role_name, g.bound_in, g.tableoid) \
               union all select from held h join pg_catalog.pg_class c on c.oid = h.objid \
                 where h.classid = 'pg_class'::regclass and c.relnamespace = pg_catalog.to_regnamespace($3) \
                 and c.oid not in (select oid from waiting) \
                 and (c.relkind <> 'v' or not exists (select from pg_catalog.pg_depend d \
                   join pg_catalog.pg_rewrite r on r.oid = d.objid where r.ev_class = c.oid \
                   and d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass \
                   and d.refobjid in (select oid from waiting))) \
               union all select from held h join pg_catalog.pg_proc p on p.oid = h.objid \
                 where h.classid = 'pg_proc'::regclass and p.pronamespace = pg_catalog.to_regnamespace($3) \
               union all select from held h join pg_catalog.pg_type t on t.oid = h.objid \
                 where h.classid = 'pg_type'::regclass and t.typnamespace = pg_catalog.to_regnamespace($3) \
               limit 1";
    let arguments = params![
        RegRole(role),
        project.id,
        &identifier(&project.slug),
        array(waiting.iter().map(|table| table.oid))
    ];
    if spi.run_once(sql, Snapshot::Latest, &arguments).is_empty() {
        let schema = identifier(&project.slug);
        spi.script(&format!("revoke usage on schema {schema} from {}", role_sql(role)));
    }
}

/// The number of entries in the longest ACL of these tables.
fn longest_acl(spi: &Connection, tables: &[Table]) -> i64 {
    let sql = "select max(pg_catalog.cardinality(c.relacl))::bigint from pg_catalog.pg_class c where c.oid = any ($1)";
    let tables = params![array(tables.iter().map(|table| table.oid))];
    spi.run_once(sql, Snapshot::Latest, &tables).get::<Option<i64>>(0, 0).unwrap_or_default()
}

fn names(tables: &[Table]) -> String {
    tables.iter().map(|table| table.sql.as_str()).collect::<Vec<_>>().join(", ")
}
