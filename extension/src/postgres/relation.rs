//! Catalog lookups of relations and schemas.

use super::role;
use pgrx::pg_sys::{self, Oid};
use std::ffi::{CStr, CString};

/// Whether a relation is an ordinary, permanent table that `keyed_owner` or a superuser owns. The state refers to tables. A
/// forged row must not redirect statements to a view, or to a table to which others can attach code.
pub fn is_trusted_table(relation: Oid) -> bool {
    // SAFETY: reads the catalog; the tuple is released below.
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

/// Whether a type is another one, possibly restricted: the same type, a domain over it, or `varchar` for `text`. Other types
/// with the same storage can compare differently, as `citext` does.
pub fn is_limited(stored: Oid, requested: Oid) -> bool {
    // SAFETY: reads the catalog.
    let base = unsafe { pg_sys::getBaseType(stored) };
    base == requested || base == pg_sys::VARCHAROID && requested == pg_sys::TEXTOID
}

/// Whether a schema exists.
pub fn has_schema(name: &CStr) -> bool {
    // SAFETY: the name is NUL-terminated; a missing schema yields InvalidOid.
    unsafe { pg_sys::get_namespace_oid(name.as_ptr(), true) != Oid::INVALID }
}

/// A table by its schema and name.
pub fn table_oid(schema: &str, name: &str) -> Option<Oid> {
    let (schema, name) = (CString::new(schema).ok()?, CString::new(name).ok()?);
    // SAFETY: both names are NUL-terminated. A missing schema or table yields InvalidOid.
    let table = unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    };
    (table != Oid::INVALID).then_some(table)
}

/// The number of the column with this name, if the table has one.
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

/// Whether an index belongs to a table and has this column as its only key column.
pub fn is_index_of(index: Oid, table: Oid, column: i16) -> bool {
    // SAFETY: reads the catalog. The tuple is released below, and the vector has as many elements as stated.
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
    // SAFETY: both functions return a copy of the name, or null if the object is missing.
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

/// Takes the lock of a SELECT on a table until the transaction ends. This also processes pending invalidation messages.
/// The table may have been dropped.
pub fn lock_for_reading(table: Oid) {
    // SAFETY: PostgreSQL releases the lock at the end of the transaction.
    unsafe { pg_sys::LockRelationOid(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE) };
}

/// The planner's estimate of the number of rows, from the current size of the table and the density in `pg_class`. The caller
/// must have locked the table.
pub fn estimated_rows(table: Oid) -> f64 {
    let (mut pages, mut rows, mut visible) = (0, 0.0, 0.0);
    // SAFETY: a dropped table yields null. The array of column widths is optional.
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
