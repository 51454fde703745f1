//! Whether this library fits the SQL of the extension in this database, and its state.
//!
//! A session keeps the library that it has loaded, whatever is installed or updated meanwhile. A library that is newer than the
//! SQL serves it as the library of that version did. One that is older could miss what newer tables require, so
//! every function refuses. The answer is cached until the SQL changes, so it costs a call nothing.

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

/// The function that every update of the extension replaces, so that sessions learn of the update.
const MARKER: &CStr = c"library_version";

/// The newest step of the state that this library knows.
static NEWEST_STEP: AtomicI32 = AtomicI32::new(0);

thread_local! {
    static IS_CHECKED: Cell<bool> = const { Cell::new(false) };
    /// How often the SQL has changed, as far as this session knows.
    static CHANGES: Cell<u32> = const { Cell::new(0) };
    /// Whether the library fitted before, so that the database has changed under this session.
    static HAS_FITTED: Cell<bool> = const { Cell::new(false) };
    static HAS_WARNED: Cell<bool> = const { Cell::new(false) };
    /// Of the marker in the cache of functions; 0 where there is none.
    static MARKER_HASH: Cell<u32> = const { Cell::new(0) };
}

/// Called once when the library is loaded.
pub fn register(newest_step: i32) {
    NEWEST_STEP.store(newest_step, Relaxed);
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

/// Refuses the call of a function if this library is older than the SQL or the state; warns once if it is newer.
#[inline(always)]
pub fn check() {
    if !IS_CHECKED.get() {
        compare();
    }
}

#[cold]
fn compare() {
    if let Some(setting) = superuser_setting::refused() {
        let setting = setting.to_string_lossy();
        let message = format!("PostgreSQL rejected the value of {setting} that this session was given");
        Error::new(Code::Forbidden, message)
            .hint(
                "Connect without it: only superusers can set it, for a database or a login with ALTER \
                 DATABASE or ALTER ROLE.",
            )
            .raise();
    }
    // First, so that an update after this is noticed.
    MARKER_HASH.set(marker_hash());
    let changes = CHANGES.get();
    let installed = installed_version();
    let step = newest_applied_step();
    let order = installed.as_deref().map_or(Ordering::Equal, |installed| compare_lines(VERSION, installed));
    if let Some(installed) = &installed
        && (order == Ordering::Less || step > NEWEST_STEP.load(Relaxed))
    {
        refuse(installed, step, order);
    }
    // Last: an error on the way, such as a timeout, leaves it open.
    IS_CHECKED.set(CHANGES.get() == changes);
    let Some(installed) = installed else { return };
    HAS_FITTED.set(true);
    // SAFETY: reads a variable of the session.
    if order == Ordering::Greater && !HAS_WARNED.replace(true) && unsafe { pg_sys::ParallelWorkerNumber } < 0
    {
        let message =
            format!("the library of keyed is {VERSION}, the extension in this database {installed}");
        ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "keyed")
            .set_hint("As a superuser, run ALTER EXTENSION keyed UPDATE, then SELECT keyed.migrate().")
            .report(PgLogLevel::WARNING);
    }
}

/// Ends the call. A session that was fine before is ended with it: the next one of the client loads the library that was
/// installed meanwhile, and pools replace connections that end.
fn refuse(installed: &str, step: i32, order: Ordering) -> ! {
    let is_sql = order == Ordering::Less;
    let message = if is_sql {
        format!(
            "this session has loaded the library of keyed {VERSION}, and the extension in this database is {installed}"
        )
    } else {
        format!(
            "the state of keyed in this database has schema version {step}, and the library {VERSION} supports \
             versions up to {}",
            NEWEST_STEP.load(Relaxed)
        )
    };
    let wanted =
        if is_sql { format!("keyed {installed}") } else { "the version of keyed that made it".to_owned() };
    let (state, level, hint) = if HAS_FITTED.get() {
        let hint = "Connect again: a new session loads the library that is installed now.".to_owned();
        (PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN, PgLogLevel::FATAL, hint)
    } else {
        let hint = format!(
            "Install the files of {wanted} on this server, then connect again. If keyed is in \
             shared_preload_libraries, restart the server."
        );
        (PgSqlErrorCode::ERRCODE_CANNOT_CONNECT_NOW, PgLogLevel::ERROR, hint)
    };
    ErrorReport::new(state, message, "keyed").set_hint(hint).report(level);
    unreachable!("neither an error nor the end of the session returns")
}

/// Refuses what needs the SQL of this library's version.
pub fn require_updated_sql() -> Result<(), Error> {
    match installed_version() {
        Some(installed) if compare_lines(VERSION, &installed) == Ordering::Greater => Err(Error::new(
            Code::PreconditionFailed,
            format!("the extension in this database is {installed}, the library {VERSION}"),
        )
        .hint("As a superuser, run ALTER EXTENSION keyed UPDATE first.")),
        _ => Ok(()),
    }
}

fn marker_hash() -> u32 {
    let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32;
    let zero = Datum::from(0usize);
    // SAFETY: names are NUL-terminated, the list of types is empty; what is missing yields InvalidOid. The first column
    // of the catalog is its oid.
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

/// The version of the SQL in this database, as of now and not of the transaction's snapshot.
fn installed_version() -> Option<String> {
    let name = Datum::from(c"keyed".as_ptr());
    let version = |values: &[Option<Datum>]| values[pg_sys::Anum_pg_extension_extversion as usize - 1];
    // SAFETY: the scan has one key, of the catalog's index on names.
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

/// The newest step that the state of this database has; 0 without a state.
fn newest_applied_step() -> i32 {
    let mut newest = 0;
    let Some(table) = relation::table_oid("keyed_state", "version") else { return newest };
    if !relation::is_trusted_table(table) {
        return newest;
    }
    // SAFETY: asks the catalog; the first column is read if it is an integer.
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

/// Lends the values of the rows of a table, as PostgreSQL reads its catalogs: without a statement, by the newest snapshot,
/// also in parallel workers.
///
/// # Safety
/// The key, if any, is of the first column of the index, which is one of the table.
unsafe fn each_row(
    table: Oid,
    by: Option<(Oid, pg_sys::ScanKeyData)>,
    mut read: impl FnMut(&[Option<Datum>]),
) {
    // SAFETY: a table that is gone yields null; a description has as many columns as it states, which a row deformed by it
    // fills. What is opened is closed below, and by the resource owner when an error unwinds.
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

/// `keyed.library_version() returns text`. The one function that answers whether the library fits or not.
///
/// # Safety
/// Only PostgreSQL calls it, with a call of its own.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn keyed_library_version(_call: pg_sys::FunctionCallInfo) -> Datum {
    datum::text(VERSION).unwrap_or(Datum::from(0usize))
}
paste_finfo! { keyed_library_version }
