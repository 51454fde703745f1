//! Stored grants: the rows of `keyed_state.access_grant`.

use super::privilege::Privilege;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::row;
use crate::postgres::spi::{Rows, connected};
use crate::template::Template;
use crate::template::catalog;
use pgrx::pg_sys::Oid;

/// A stored grant.
pub struct Grant {
    /// Its id.
    pub id: i32,
    /// The grantee.
    pub role: Oid,
    /// Whether the OID still belongs to the grantee (`binding.rs`).
    pub is_bound: bool,
    /// The privilege.
    pub privilege: Privilege,
    /// The scope as JSON; `None` for all records.
    pub scope: Option<String>,
    /// The template; `None` for all templates of the project.
    pub template: Option<i32>,
}

/// The columns of a grant, in the order in which [`read`] takes them.
pub const COLUMNS: &str = "g.id, g.role::oid, g.privilege, g.scope::text, g.template_id, \
                           keyed.is_bound(g.role::oid, g.role_name, g.bound_in, g.tableoid)";

/// Whether a grant exists. Policies call this, so they allow no row after the grant is deleted.
pub fn exists(number: i32) -> bool {
    catalog::table_oid("keyed_state", "access_grant").is_some_and(|table| row::exists(table, number))
}

/// Reads grants except those to dropped roles, which have no effect.
pub fn read(rows: &Rows) -> Vec<Grant> {
    read_all(rows).into_iter().filter(|grant| grant.is_bound).collect()
}

/// Reads grants, including those to dropped roles.
pub fn read_all(rows: &Rows) -> Vec<Grant> {
    let grant = |row| {
        let text = |column| rows.get::<Option<String>>(row, column);
        Some(Grant {
            id: rows.get(row, 0),
            role: rows.get(row, 1),
            privilege: Privilege::parse(&text(2)?)?,
            scope: text(3),
            template: rows.get(row, 4),
            is_bound: rows.get::<Option<bool>>(row, 5).unwrap_or_default(),
        })
    };
    (0..rows.len()).filter_map(grant).collect()
}

/// The grants that apply to a role on a template: its own and inherited ones, on the template and on its project. The
/// latest snapshot is used, so that a revocation takes effect immediately.
pub fn grants_of(role: Oid, template: &Template) -> Vec<Grant> {
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g \
         where (g.template_id = $1 or g.template_id is null and g.project_id = $2) \
         and pg_has_role($3, g.role::oid, 'usage') order by g.id"
    );
    let arguments = params![template.id, template.project_id, role];
    as_owner(|| connected(|spi| read(&spi.run_newest_and_own(&sql, &arguments))))
}
