//! What kind of relation an oid names, and whose it is.

use super::role;
use pgrx::pg_sys::{self, Oid};

/// Whether a relation is an ordinary table of the owner, or of a superuser, which is not temporary. Rows of the state
/// name tables. Should somebody forge one, it must not lead our statements to a view, or to a table whose owner could
/// have put code of their own on it.
pub fn is_trusted_table(relation: Oid) -> bool {
    // SAFETY: asks the catalog; the tuple is released before this returns.
    let found = unsafe {
        let tuple =
            pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, pg_sys::Datum::from(relation));
        if tuple.is_null() {
            return false;
        }
        let class = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>();
        let found = ((*class).relkind as u8, (*class).relpersistence as u8, (*class).relowner);
        pg_sys::ReleaseSysCache(tuple);
        found
    };
    let (kind, persistence, owner) = found;
    kind == pg_sys::RELKIND_RELATION
        && persistence != pg_sys::RELPERSISTENCE_TEMP
        && (role::find(role::OWNER) == Some(owner) || role::is_superuser(owner))
}
