//! Checks that this library is compatible with the extension's SQL and state in this database.
//!
//! A session uses the library that it has loaded, even after an upgrade. A newer library supports older SQL. An older library
//! does not support newer SQL or state, so every function raises an error. The result is cached until the SQL changes, so a
//! call pays nothing for the check.

use super::datum;
use super::function::paste_finfo;
use super::raise::Raise;
use super::relation;
use super::superuser_setting;
use crate::error::{Code, Error};
use crate::value::version::compare_lines;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use std::cell::Cell;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A function that every update script replaces. The invalidation message notifies sessions of the update.
const MARKER: &CStr = c"library_version";

/// The newest schema version that this library supports.
static MAX_SCHEMA_VERSION: AtomicI32 = AtomicI32::new(0);

thread_local! {
    static IS_CHECKED: Cell<bool> = const { Cell::new(false) };
    /// The number of changes of the SQL that this session has been notified of.
    static CHANGES: Cell<u32> = const { Cell::new(0) };
    /// Whether an earlier check in this session succeeded.
    static WAS_COMPATIBLE: Cell<bool> = const { Cell::new(false) };
    static HAS_WARNED: Cell<bool> = const { Cell::new(false) };
    /// The hash of the marker function in the syscache; 0 if the function does not exist.
    static MARKER_HASH: Cell<u32> = const { Cell::new(0) };
}

/// Called once when the library is loaded.
pub fn register(max_schema_version: i32) {
    MAX_SCHEMA_VERSION.store(max_schema_version, Relaxed);
    let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
    // SAFETY: the callback lives as long as the library, which is never unloaded.
    unsafe { pg_sys::CacheRegisterSyscacheCallback(cache, Some(forget), Datum::from(0usize)) };
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_unused: Datum, _cache: i32, hash: u32) {
    let marker = MARKER_HASH.get();
    if hash == 0 || marker == 0 || hash == marker {
        IS_CHECKED.set(false);
        CHANGES.set(CHANGES.get().wrapping_add(1));
    }
}

/// Raises an error if this library is older than the SQL or the state. Warns once if it is newer.
#[inline(always)]
pub fn check() {
    if !IS_CHECKED.get() {
        compare();
    }
}

#[cold]
fn compare() {
    if let Some(setting) = superuser_setting::rejected() {
        let setting = setting.to_string_lossy();
        let message = format!("{setting} was set in the connection options");
        Error::new(Code::Forbidden, message)
            .hint(
                "Remove it there. Only superusers can change this setting, for example with ALTER DATABASE or \
                 ALTER ROLE.",
            )
            .raise();
    }
    // Read first, so that a later update is noticed.
    MARKER_HASH.set(marker_hash());
    let changes = CHANGES.get();
    let installed = installed_version();
    let schema_version = schema_version();
    let order = installed.as_deref().map_or(Ordering::Equal, |installed| compare_lines(VERSION, installed));
    if let Some(installed) = &installed
        && (order == Ordering::Less || schema_version > MAX_SCHEMA_VERSION.load(Relaxed))
    {
        reject(installed, schema_version, order);
    }
    // Set last, so that an error such as a timeout does not skip the check.
    IS_CHECKED.set(CHANGES.get() == changes);
    let Some(installed) = installed else { return };
    WAS_COMPATIBLE.set(true);
    // SAFETY: reads a session variable.
    if order == Ordering::Greater && !HAS_WARNED.replace(true) && unsafe { pg_sys::ParallelWorkerNumber } < 0
    {
        let message =
            format!("the library of keyed is {VERSION}, but the extension in this database is {installed}");
        ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "keyed")
            .set_hint("As a superuser, run ALTER EXTENSION keyed UPDATE, then SELECT keyed.migrate().")
            .report(PgLogLevel::WARNING);
    }
}

/// Raises the error for an incompatible library. A session that was compatible before ends, because a new session loads the
/// installed library, and pools replace closed connections.
fn reject(installed: &str, schema_version: i32, order: Ordering) -> ! {
    let is_sql = order == Ordering::Less;
    let message = if is_sql {
        format!(
            "this session has loaded the library of keyed {VERSION}, but the extension in this database is {installed}"
        )
    } else {
        format!(
            "the state of keyed in this database has schema version {schema_version}, but the library {VERSION} \
             supports only versions up to {}",
            MAX_SCHEMA_VERSION.load(Relaxed)
        )
    };
    let expected = if is_sql { format!("keyed {installed}") } else { "a newer version of keyed".to_owned() };
    let (state, level, hint) = if WAS_COMPATIBLE.get() {
        let hint = "Connect again. A new session loads the installed library.".to_owned();
        (PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN, PgLogLevel::FATAL, hint)
    } else {
        let hint = format!(
            "Install the files of {expected} on this server, then connect again. If keyed is in \
             shared_preload_libraries, restart the server."
        );
        (PgSqlErrorCode::ERRCODE_CANNOT_CONNECT_NOW, PgLogLevel::ERROR, hint)
    };
    ErrorReport::new(state, message, "keyed").set_hint(hint).report(level);
    unreachable!("a report of level ERROR or FATAL does not return")
}

/// Rejects an operation that needs the SQL of this library's version.
pub fn require_updated_sql() -> Result<(), Error> {
    match installed_version() {
        Some(installed) if compare_lines(VERSION, &installed) == Ordering::Greater => Err(Error::new(
            Code::PreconditionFailed,
            format!("the extension in this database is {installed}, but the library is {VERSION}"),
        )
        .hint("As a superuser, run ALTER EXTENSION keyed UPDATE first.")),
        _ => Ok(()),
    }
}

fn marker_hash() -> u32 {
    let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32;
    let zero = Datum::from(0usize);
    // SAFETY: names are NUL-terminated, and the list of types is empty. A missing function yields InvalidOid. The first
    // column of the catalog is its OID.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"keyed".as_ptr(), true);
        let types = Datum::from(pg_sys::buildoidvector(std::ptr::null(), 0));
        let marker =
            pg_sys::GetSysCacheOid(cache, 1, Datum::from(MARKER.as_ptr()), types, Datum::from(schema), zero);
        if marker == Oid::INVALID {
            return 0;
        }
        let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
        pg_sys::GetSysCacheHashValue(cache, Datum::from(marker), zero, zero, zero)
    }
}

/// The installed version of the SQL, in the latest snapshot.
fn installed_version() -> Option<String> {
    let name = Datum::from(c"keyed".as_ptr());
    let version = |values: &[Option<Datum>]| values[pg_sys::Anum_pg_extension_extversion as usize - 1];
    // SAFETY: the scan has one key, for the catalog's index on names.
    unsafe {
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyInit(
            &mut key,
            pg_sys::Anum_pg_extension_extname as i16,
            pg_sys::BTEqualStrategyNumber as u16,
            Oid::from(pg_sys::F_NAMEEQ),
            name,
        );
        let mut found = None;
        each_row(
            pg_sys::ExtensionRelationId,
            Some((Oid::from(pg_sys::ExtensionNameIndexId), key)),
            |values| {
                found = version(values).map(datum::read_text);
            },
        );
        found
    }
}

/// The schema version of this database; 0 if keyed is not set up.
fn schema_version() -> i32 {
    let mut newest = 0;
    let Some(table) = relation::table_oid("keyed_state", "version") else { return newest };
    if !relation::is_trusted_table(table) {
        return newest;
    }
    // SAFETY: reads the catalog. The first column is read only if it is an integer.
    unsafe {
        if pg_sys::get_atttype(table, 1) == pg_sys::INT4OID {
            each_row(table, None, |values| {
                let number = values.first().copied().flatten().map_or(0, datum::read_i32);
                newest = newest.max(number);
            });
        }
    }
    newest
}

/// Passes the values of each row of a table to `read`. The scan works as on a catalog: without a statement, with the latest
/// snapshot, also in parallel workers.
///
/// # Safety
/// The index belongs to the table, and the key to its first column.
unsafe fn each_row(
    table: Oid,
    by: Option<(Oid, pg_sys::ScanKeyData)>,
    mut read: impl FnMut(&[Option<Datum>]),
) {
    // SAFETY: a dropped table yields null. The arrays have one entry for each column of the descriptor. The relation is
    // closed below, or by the resource owner if an error unwinds.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let relation = pg_sys::try_table_open(table, lock);
        if relation.is_null() {
            return;
        }
        let (index, mut key) = by.map_or((Oid::INVALID, None), |(index, key)| (index, Some(key)));
        let keys = key.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let count = i32::from(!keys.is_null());
        let scan =
            pg_sys::systable_beginscan(relation, index, !keys.is_null(), std::ptr::null_mut(), count, keys);
        let columns = (*(*relation).rd_att).natts as usize;
        let (mut values, mut nulls) = (vec![Datum::from(0usize); columns], vec![true; columns]);
        loop {
            pgrx::check_for_interrupts!();
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            pg_sys::heap_deform_tuple(tuple, (*relation).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            let row: Vec<Option<Datum>> =
                values.iter().zip(&nulls).map(|(value, null)| (!null).then_some(*value)).collect();
            read(&row);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, lock);
    }
}

/// `keyed.library_version() returns text`. This function works even if the library is incompatible.
///
/// # Safety
/// Only PostgreSQL calls it, with a call of its own.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn keyed_library_version(_call: pg_sys::FunctionCallInfo) -> Datum {
    datum::text(VERSION).unwrap_or(Datum::from(0usize))
}
paste_finfo! { keyed_library_version }
