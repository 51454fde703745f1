//! Roles and what they may do.

use pgrx::pg_sys::{self, Oid};
use std::ffi::{CStr, CString};

/// The role that owns every table of ours and may not log in.
pub const OWNER: &CStr = c"keyed_owner";
/// The role whose members may do everything in the workspace.
pub const ADMIN: &CStr = c"keyed_admin";

/// The role that the proxy logs in as.
pub const PROXY: &CStr = c"keyed_proxy";

/// Whether a role is one of PostgreSQL's own (`pg_read_all_data`) or the login of the proxy: no API key, grant or
/// endpoint uses it.
pub fn is_of_the_server(name: &str) -> bool {
    name.starts_with("pg_") || PROXY.to_str() == Ok(name)
}

/// The oid of a role, when it exists.
pub fn find(name: &CStr) -> Option<Oid> {
    // SAFETY: the name is NUL-terminated; a missing role yields InvalidOid.
    let oid = unsafe { pg_sys::get_role_oid(name.as_ptr(), true) };
    (oid != Oid::INVALID).then_some(oid)
}

/// The oid of a role by a name that a caller sent.
pub fn find_by_name(name: &str) -> Option<Oid> {
    CString::new(name).ok().and_then(|name| find(&name))
}

/// The name of a role, when it still exists.
pub fn name(role: Oid) -> Option<String> {
    // SAFETY: a missing role yields a null pointer; the string is a copy in the current memory context.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// The number of this cluster of databases.
pub fn cluster() -> u64 {
    // SAFETY: reads a variable of the server.
    unsafe { pg_sys::GetSystemIdentifier() }
}

/// The effective role of the session (`current_user`).
pub fn current() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetUserId() }
}

/// The role that logged in (`session_user`).
pub fn session() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetSessionUserId() }
}

/// The role of SET ROLE, or else the login, regardless of the running function.
pub fn chosen() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetOuterUserId() }
}

/// The role that logged in, whatever SET SESSION AUTHORIZATION made of it.
pub fn authenticated() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetAuthenticatedUserId() }
}

/// Whether `role` is a superuser.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: asks the catalog.
    unsafe { pg_sys::superuser_arg(role) }
}

/// Whether `role` has the privileges of `of`, itself or by inheritance; a superuser has all.
pub fn has_rights_of(role: Oid, of: Oid) -> bool {
    // SAFETY: asks the catalog.
    unsafe { pg_sys::has_privs_of_role(role, of) }
}

/// Whether `role` is a member of `of`, directly or not.
pub fn is_member(role: Oid, of: Oid) -> bool {
    // SAFETY: asks the catalog.
    unsafe { pg_sys::is_member_of_role(role, of) }
}

/// A privilege on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePrivilege {
    /// SELECT.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

/// Whether `role` has the privilege on the whole table.
pub fn has_table_privilege(role: Oid, table: Oid, privilege: TablePrivilege) -> bool {
    let mode = match privilege {
        TablePrivilege::Select => pg_sys::ACL_SELECT,
        TablePrivilege::Insert => pg_sys::ACL_INSERT,
        TablePrivilege::Update => pg_sys::ACL_UPDATE,
        TablePrivilege::Delete => pg_sys::ACL_DELETE,
    };
    // SAFETY: asks the catalog.
    unsafe {
        pg_sys::pg_class_aclcheck(table, role, mode as pg_sys::AclMode) == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Whether row-level security of the table limits what `role` does with it.
pub fn is_under_policies(role: Oid, table: Oid) -> bool {
    // SAFETY: asks the catalog.
    unsafe { pg_sys::check_enable_rls(table, role, true) == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 }
}
