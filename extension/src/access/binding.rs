//! The role that an API key, a grant, an inbound or a webhook endpoint belongs to.
//!
//! Rows refer to roles by OID, so they follow renames. PostgreSQL records no dependency for these rows: the OID of a
//! dropped role remains, a dump contains it, and in another cluster it may belong to another role. Therefore each row
//! also stores the name of the role (`role_name`), and the table and cluster that wrote it (`bound_in`). A row is valid
//! if one of these holds:
//!
//! - The role with that OID has that name. This covers restored rows: a dump writes an existing role by name.
//! - This table of this cluster wrote the row. OIDs are not reused there, so a role with another name was renamed.
//!
//! Any other row has no effect until an administrator creates it again.
//!
//! A policy or privilege for each role would make PostgreSQL track the role. But then a role with keys could not be
//! dropped, and issuing a key would wait for a running dump.

use crate::error::{Code, Error};
use crate::postgres::function::{Call, ReturnValue, sql_functions};
use crate::postgres::role;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::catalog;
use pgrx::pg_sys::{Datum, Oid};

/// The tables whose rows belong to roles, of migration 15 and later ones.
const FIRST_TABLES: [&str; 3] = ["api_key", "access_grant", "inbound_endpoint"];
const LATER_TABLES: [&str; 1] = ["webhook_endpoint"];

sql_functions! {
    /// `keyed.binding("table" oid) returns text`.
    keyed_binding => |call| Ok(call.oid(0).map_or(ReturnValue::Null, |table| ReturnValue::Text(table_identity(table))));

    /// `keyed.is_bound(role oid, role_name text, bound_in text, "table" oid) returns boolean`.
    keyed_is_bound => |call| Ok(ReturnValue::Datum(Datum::from(is_bound(call))));
}

/// The system identifier of this cluster and the OID of a table. A physical copy of the cluster has the same identifier,
/// but a table that is restored there gets another OID.
fn table_identity(table: Oid) -> String {
    format!("{}/{}", role::cluster(), table.to_u32())
}

fn is_bound(call: &Call) -> bool {
    let Some(name) = call.oid(0).and_then(role::name) else { return false };
    call.text(1).is_some_and(|bound| bound == name)
        || call.oid(3).is_some_and(|table| call.text(2) == Some(table_identity(table)))
}

/// The role of a row under this alias, as SQL; 0 if the row has no valid role.
pub fn role_sql(alias: &str) -> String {
    format!("case when {} then {alias}.role::oid else 0::oid end", is_bound_sql(alias))
}

/// Whether a row under this alias belongs to its role, as SQL.
pub fn is_bound_sql(alias: &str) -> String {
    format!("keyed.is_bound({alias}.role::oid, {alias}.role_name, {alias}.bound_in, {alias}.tableoid)")
}

/// Rejects a schema version below 15, where rows have no binding and credentials are stored in an older form.
pub fn require_state() -> Result<(), Error> {
    if catalog::has_column("keyed_state", "access_grant", "bound_in") {
        return Ok(());
    }
    Err(Error::new(Code::Internal, "this database needs a migration: access cannot be checked")
        .hint("Run SELECT keyed.migrate()."))
}

/// Migration 15: rows store the name of their role. Rows of dropped roles have no effect.
pub fn migrate(spi: &Connection) {
    spi.script(include_str!("../../../sql/state/0015_bindings.sql"));
    for table in FIRST_TABLES {
        spi.script(&format!(
            "update keyed_state.{table} t set role_name = r.rolname, bound_in = keyed.binding(t.tableoid) \
             from pg_catalog.pg_roles r where r.oid = t.role"
        ));
    }
}

/// Updates the stored names of roles, after a restore or a rename.
pub fn renew(spi: &Connection) {
    // A migration that is not complete has not created all of them.
    let later = LATER_TABLES.into_iter().filter(|table| catalog::table_oid("keyed_state", table).is_some());
    for table in FIRST_TABLES.into_iter().chain(later) {
        let stale = format!(
            "r.oid = t.role and {} and (t.role_name, t.bound_in) is distinct from \
             (r.rolname::text, keyed.binding(t.tableoid))",
            is_bound_sql("t")
        );
        let find = format!("select from keyed_state.{table} t, pg_catalog.pg_roles r where {stale} limit 1");
        // An update that changes nothing would still invalidate the caches of every session.
        if spi.run_once(&find, Snapshot::Latest, &[]).is_empty() {
            continue;
        }
        spi.script(&format!(
            "update keyed_state.{table} t set role_name = r.rolname, bound_in = keyed.binding(t.tableoid) \
             from pg_catalog.pg_roles r where {stale}"
        ));
    }
}

/// The name of a role, as the tables of the state store it.
pub fn name_argument(role: Oid) -> String {
    role::name(role).unwrap_or_default()
}
