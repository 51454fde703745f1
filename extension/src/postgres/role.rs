//! Roles and their privileges.

use pgrx::pg_sys::{self, Oid};
use std::ffi::{CStr, CString};

/// The role that owns keyed's tables and cannot log in.
pub const OWNER: &CStr = c"keyed_owner";
/// The role whose members are administrators.
pub const ADMIN: &CStr = c"keyed_admin";

/// The role that the proxy logs in as.
pub const PROXY: &CStr = c"keyed_proxy";

/// Whether a role is predefined (such as `pg_read_all_data`) or the proxy's login. No API key, grant or endpoint may use
/// such a role.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("pg_") || PROXY.to_str() == Ok(name)
}

/// The OID of a role, if it exists.
pub fn find(name: &CStr) -> Option<Oid> {
    // SAFETY: the name is NUL-terminated; a missing role yields InvalidOid.
    let oid = unsafe { pg_sys::get_role_oid(name.as_ptr(), true) };
    (oid != Oid::INVALID).then_some(oid)
}

/// The OID of a role by a name from a request.
pub fn find_by_name(name: &str) -> Option<Oid> {
    CString::new(name).ok().and_then(|name| find(&name))
}

/// The name of a role, if it still exists.
pub fn name(role: Oid) -> Option<String> {
    // SAFETY: a missing role yields a null pointer; the string is a copy in the current memory context.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// The system identifier of this database cluster.
pub fn cluster() -> u64 {
    // SAFETY: reads a server variable.
    unsafe { pg_sys::GetSystemIdentifier() }
}

/// The effective role of the session (`current_user`).
pub fn current() -> Oid {
    // SAFETY: reads a session variable.
    unsafe { pg_sys::GetUserId() }
}

/// The role that logged in (`session_user`).
pub fn session() -> Oid {
    // SAFETY: reads a session variable.
    unsafe { pg_sys::GetSessionUserId() }
}

/// The role of SET ROLE, or the login. A running SECURITY DEFINER function does not change it.
pub fn chosen() -> Oid {
    // SAFETY: reads a session variable.
    unsafe { pg_sys::GetOuterUserId() }
}

/// The role that logged in, regardless of SET SESSION AUTHORIZATION.
pub fn authenticated() -> Oid {
    // SAFETY: reads a session variable.
    unsafe { pg_sys::GetAuthenticatedUserId() }
}

/// Whether `role` is a superuser.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: reads the catalog.
    unsafe { pg_sys::superuser_arg(role) }
}

/// Whether `role` has the privileges of `of`, directly or by inheritance. A superuser has all.
pub fn has_privileges_of(role: Oid, of: Oid) -> bool {
    // SAFETY: reads the catalog.
    unsafe { pg_sys::has_privs_of_role(role, of) }
}

/// Whether `role` is a member of `of`, directly or not.
pub fn is_member(role: Oid, of: Oid) -> bool {
    // SAFETY: reads the catalog.
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
    // SAFETY: reads the catalog.
    unsafe {
        pg_sys::pg_class_aclcheck(table, role, mode as pg_sys::AclMode) == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Whether row-level security of the table applies to `role`.
pub fn is_under_policies(role: Oid, table: Oid) -> bool {
    // SAFETY: reads the catalog.
    unsafe { pg_sys::check_enable_rls(table, role, true) == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 }
}
