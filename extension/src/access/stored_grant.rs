//! Stored grants: the rows of `keyed_state.access_grant`, and how changes of templates affect their scopes.

use super::permissions::Privilege;
use super::{Caller, scope};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{datum, role, row};
use crate::template::Template;
use crate::template::catalog::{self, REACHING};
use pgrx::pg_sys::{self, Datum, Oid};
use std::rc::Rc;

/// A grant as it is written down.
pub struct Grant {
    /// Its number.
    pub id: i32,
    /// To whom.
    pub role: Oid,
    /// Whether the role of that number is still the one that was meant.
    pub is_bound: bool,
    /// What.
    pub privilege: Privilege,
    /// On which records, as JSON; `None` for all.
    pub scope: Option<String>,
    /// On which template; `None` for all of its project.
    pub template: Option<i32>,
}

/// The columns of a grant, in the order in which [`read`] takes them.
pub const COLUMNS: &str = "g.id, g.role::oid, g.privilege, g.scope::text, g.template_id, \
                           keyed.is_bound(g.role::oid, g.role_name, g.bound_in, g.tableoid)";

/// Whether a grant exists now. Policies call this, so they allow nothing once it is deleted.
pub fn is_there(number: i32) -> bool {
    catalog::table_oid("keyed_state", "access_grant").is_some_and(|table| row::exists(table, number))
}

/// Reads grants. Grants to dropped roles have no effect and are skipped.
pub fn read(rows: &Rows) -> Vec<Grant> {
    read_all(rows).into_iter().filter(|grant| grant.is_bound).collect()
}

/// Reads grants, also those to roles that were dropped.
pub fn read_all(rows: &Rows) -> Vec<Grant> {
    let grant = |row| {
        let text = |column| rows.get(row, column).map(datum::read_text);
        Some(Grant {
            id: rows.get(row, 0).map(datum::read_i32)?,
            role: rows.get(row, 1).map(|oid| Oid::from(oid.value() as u32))?,
            privilege: Privilege::parse(&text(2)?)?,
            scope: text(3),
            template: rows.get(row, 4).map(datum::read_i32),
            is_bound: rows.get(row, 5).is_some_and(datum::read_bool),
        })
    };
    (0..rows.len()).filter_map(grant).collect()
}

/// The grants that apply to a role on a template: its own, those of inherited roles, and those on the project. Read
/// with the latest snapshot, so that a revocation takes effect at once.
pub fn reaching(role: Oid, template: &Template) -> Vec<Grant> {
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g \
         where (g.template_id = $1 or g.template_id is null and g.project_id = $2) \
         and pg_has_role($3, g.role::oid, 'usage') order by g.id"
    );
    let arguments = [
        (pg_sys::INT4OID, Some(Datum::from(template.id))),
        (pg_sys::INT4OID, Some(Datum::from(template.project_id))),
        (pg_sys::OIDOID, Some(Datum::from(role))),
    ];
    as_owner(|| connected(|spi| read(&spi.run_newest_and_own(&sql, &arguments))))
}

/// The grants that have a scope which may be about a template, with their templates and scopes.
fn scoped(spi: &Connection, template: i32) -> Vec<(Grant, Rc<Template>, String)> {
    let sql = format!(
        "with recursive {REACHING} select {COLUMNS} from keyed_state.access_grant g where g.scope is not null \
         and g.template_id in (select id from reaching)"
    );
    let grants =
        read(&spi.run_once(&sql, Snapshot::Latest, &[(pg_sys::INT4OID, Some(Datum::from(template)))]));
    let with_scope = |grant: Grant| {
        let (template, scope) = (grant.template.and_then(catalog::by_id)?, grant.scope.clone()?);
        Some((grant, template, scope))
    };
    grants.into_iter().filter_map(with_scope).collect()
}

/// Renames an attribute in scopes, before the attribute itself is renamed.
pub fn rename_attribute(spi: &Connection, changed: i32, attribute: i32, new: &str) -> Result<(), Error> {
    for (grant, template, scope) in scoped(spi, changed) {
        let renamed = scope::rename(&template, &scope, attribute, new)?;
        if renamed != scope {
            let id = (pg_sys::INT4OID, Some(Datum::from(grant.id)));
            spi.run_once(
                "update keyed_state.access_grant set scope = $2 where id = $1",
                Snapshot::Latest,
                &[id, (pg_sys::JSONBOID, datum::jsonb(&renamed))],
            );
        }
    }
    Ok(())
}

/// Refuses the end of an attribute that a scope is about. Whose it is, is for administrators.
pub fn check_unused(
    spi: &Connection,
    caller: &Caller,
    changed: i32,
    attribute: i32,
    pointer: &str,
) -> Result<(), Error> {
    for (grant, template, scope) in scoped(spi, changed) {
        let uses = scope::compile(&template, &scope)?.uses();
        if let Some(used) = uses.into_iter().find(|used| used.attribute == Some(attribute)) {
            let message = if caller.is_admin() {
                let role = role::name(grant.role).unwrap_or_default();
                format!("the scope of role {role:?} on {} uses {:?}", template.full_name(), used.field)
            } else {
                "the scope of a role uses it".to_owned()
            };
            return Err(Error::at(Code::Conflict, pointer, message).hint(
                "grant with another scope first: keyed.grant_access(role, target, privileges, scope)",
            ));
        }
    }
    Ok(())
}

/// Refuses a change of a template that a scope does not survive.
pub fn check_scopes(spi: &Connection, caller: &Caller, changed: i32) -> Result<(), Error> {
    for (grant, template, scope) in scoped(spi, changed) {
        if let Err(error) = scope::compile(&template, &scope) {
            let message = if caller.is_admin() {
                let (role, name) = (role::name(grant.role).unwrap_or_default(), template.full_name());
                format!("the change would break the scope of role {role:?} on {name}: {}", error.message)
            } else {
                "the change would break the scope of a role".to_owned()
            };
            return Err(Error::new(Code::Conflict, message).hint(
                "grant with another scope first: keyed.grant_access(role, target, privileges, scope)",
            ));
        }
    }
    Ok(())
}
