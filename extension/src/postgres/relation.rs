//! Relations by name and OID: their kind and owner.

use super::role;
use pgrx::pg_sys::{self, Oid};
use std::ffi::{CStr, CString};

/// Whether a relation is an ordinary, permanent table of the owner or of a superuser. Rows of the state name tables;
/// a forged row must not direct statements to a view, or to a table on which others could have put code.
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

/// Whether values of the first type are those of the second one, perhaps with a limit: the same type, a domain over it, or
/// `varchar` for `text`. Another type that is stored alike may compare in another way, as `citext` does.
pub fn is_limited(stored: Oid, wanted: Oid) -> bool {
    // SAFETY: asks the catalog about a type.
    let base = unsafe { pg_sys::getBaseType(stored) };
    base == wanted || base == pg_sys::VARCHAROID && wanted == pg_sys::TEXTOID
}

/// Whether there is a schema of this name.
pub fn has_schema(name: &CStr) -> bool {
    // SAFETY: the name is NUL-terminated; a missing schema yields InvalidOid.
    unsafe { pg_sys::get_namespace_oid(name.as_ptr(), true) != Oid::INVALID }
}

/// A table by its schema and name.
pub fn table_oid(schema: &str, name: &str) -> Option<Oid> {
    let (schema, name) = (CString::new(schema).ok()?, CString::new(name).ok()?);
    // SAFETY: both names are NUL-terminated; what is missing yields InvalidOid.
    let table = unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    };
    (table != Oid::INVALID).then_some(table)
}

/// The number of a column of a table, where it has one of that name.
pub fn column(table: Oid, column: &str) -> Option<i16> {
    let name = CString::new(column).ok()?;
    // SAFETY: the name is NUL-terminated; what is missing yields 0.
    let number = unsafe { pg_sys::get_attnum(table, name.as_ptr()) };
    (number > 0).then_some(number)
}

/// Whether a table exists and has this column.
pub fn has_column(schema: &str, table: &str, column: &str) -> bool {
    table_oid(schema, table).is_some_and(|table| self::column(table, column).is_some())
}

/// Whether an index of a table has this column, and no other, as its key.
pub fn is_index_of(index: Oid, table: Oid, column: i16) -> bool {
    // SAFETY: asks the catalog; the tuple is released before this returns, and the vector has as many elements as stated.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::INDEXRELID as i32,
            pg_sys::Datum::from(index),
        );
        if tuple.is_null() {
            return false;
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_index>();
        let of_table = (*form).indrelid == table && (*form).indnkeyatts == 1;
        let is_it = of_table && *(&raw const (*form).indkey.values).cast::<i16>() == column;
        pg_sys::ReleaseSysCache(tuple);
        is_it
    }
}

/// The schema and the name of a table.
pub fn table_name(table: Oid) -> Option<(String, String)> {
    // SAFETY: both functions yield a copy of the name, or null for what is missing.
    unsafe {
        let name = pg_sys::get_rel_name(table);
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
        if name.is_null() || schema.is_null() {
            return None;
        }
        let read = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
        Some((read(schema), read(name)))
    }
}

/// Takes the lock of a reading statement on a table until the transaction ends, which also processes pending
/// invalidation messages. Also works for a dropped table.
pub fn lock_for_reading(table: Oid) {
    // SAFETY: PostgreSQL releases the lock at the end of the transaction.
    unsafe { pg_sys::LockRelationOid(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE) };
}

/// About how many rows a table has, as the planner sees it: by its present size, and how many rows a page had when they were
/// counted last. The table must be locked by the caller.
pub fn estimated_rows(table: Oid) -> f64 {
    let (mut pages, mut rows, mut visible) = (0, 0.0, 0.0);
    // SAFETY: a table that is gone yields null; widths of columns are not asked for.
    unsafe {
        let relation = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if relation.is_null() {
            return 0.0;
        }
        pg_sys::estimate_rel_size(relation, std::ptr::null_mut(), &mut pages, &mut rows, &mut visible);
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
    }
    rows
}
