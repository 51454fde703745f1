//! Plans cached statements for large tables.
//!
//! A session caches its statements, and PostgreSQL plans them once, for the current table sizes. For a table of one page, it
//! chooses a sequential scan, and does not replan when the table grows, only when it is altered or analyzed. So a cached
//! statement is planned as if every table had 1000 pages or more. Its plan uses indexes, which costs one or two more pages
//! on a small table. Foreign-key checks, which PostgreSQL caches itself, are planned in the same way.

use super::role;
use pgrx::pg_sys::{self, IndexOptInfo, Oid, ParamListInfo, PlannedStmt, PlannerInfo, Query, RelOptInfo};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{c_char, c_int};

/// Marks a cached statement. It is a cursor option, because these reach the planner. PostgreSQL uses the low bits.
pub const CACHED: c_int = 1 << 30;

/// The assumed minimum number of pages of a table: too few for a parallel plan, but enough to make a sequential scan more
/// expensive than dozens of index lookups.
const MIN_PAGES: u32 = 1000;
/// The assumed density of a table without statistics.
const ROWS_OF_PAGE: f64 = 50.0;
/// The assumed density of an index.
const ENTRIES_OF_PAGE: f64 = 200.0;

thread_local! {
    /// Whether the statement that is being planned is cached.
    static IS_CACHED: Cell<bool> = const { Cell::new(false) };
    /// The previous hooks.
    static EARLIER_PLANNER: Cell<pg_sys::planner_hook_type> = const { Cell::new(None) };
    static EARLIER_INFO: Cell<pg_sys::get_relation_info_hook_type> = const { Cell::new(None) };
}

/// The access path that a statement must use if possible, regardless of PostgreSQL's cost estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An index scan in the requested order.
    OrderedScan,
    /// An index scan for a condition.
    Lookup,
}

/// Runs statements that are planned in this shape if possible. Always run a cached statement in the same shape, because it
/// can be replanned at any time.
pub fn in_shape<R>(shape: Shape, body: impl FnOnce() -> R) -> R {
    let _restored = Switches::set(shape);
    body()
}

/// The previous `enable_*` settings. Dropping this, also during unwinding, restores them. It writes the variables, because a
/// nesting level of settings would visit all settings for each statement.
struct Switches([bool; 3]);

impl Switches {
    fn set(shape: Shape) -> Switches {
        // SAFETY: a session has one thread, which reads and writes the variables.
        unsafe {
            let before = [pg_sys::enable_seqscan, pg_sys::enable_bitmapscan, pg_sys::enable_sort];
            pg_sys::enable_seqscan = false;
            pg_sys::enable_bitmapscan &= shape == Shape::Lookup;
            pg_sys::enable_sort &= shape == Shape::Lookup;
            Switches(before)
        }
    }
}

impl Drop for Switches {
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe {
            [pg_sys::enable_seqscan, pg_sys::enable_bitmapscan, pg_sys::enable_sort] = self.0;
        }
    }
}

/// Registers the hooks; called once when the library is loaded.
pub fn register() {
    // SAFETY: the hooks live as long as the library, which is never unloaded; a session has one thread.
    unsafe {
        EARLIER_PLANNER.set(pg_sys::planner_hook);
        pg_sys::planner_hook = Some(plan);
        EARLIER_INFO.set(pg_sys::get_relation_info_hook);
        pg_sys::get_relation_info_hook = Some(enlarge_small_table);
    }
}

/// Sets [`IS_CACHED`] until this is dropped. The planner can be nested, and can raise errors.
struct Planning {
    outer: bool,
}

impl Planning {
    fn begin(is_cached: bool) -> Planning {
        Planning { outer: IS_CACHED.replace(is_cached) }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        IS_CACHED.set(self.outer);
    }
}

/// The planner hook. It records whether the statement is cached, and calls the standard planner.
#[pg_guard]
unsafe extern "C-unwind" fn plan(
    query: *mut Query,
    text: *const c_char,
    options: c_int,
    parameters: ParamListInfo,
) -> *mut PlannedStmt {
    let _planning = Planning::begin(options & CACHED != 0 || is_foreign_key_check());
    let options = options & !CACHED;
    // SAFETY: PostgreSQL's arguments are passed on. Only another library's hook needs the guard: pgrx already wraps
    // PostgreSQL's own function in one, and an error cannot unwind through two.
    unsafe {
        match EARLIER_PLANNER.get() {
            Some(earlier) => pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(query, text, options, parameters)),
            None => pg_sys::standard_planner(query, text, options, parameters),
        }
    }
}

/// Whether this is PostgreSQL's check of a foreign key on a table of keyed. Only such checks run as the table owner without
/// FORCE ROW LEVEL SECURITY.
fn is_foreign_key_check() -> bool {
    // SAFETY: reads session variables.
    unsafe { pg_sys::InNoForceRLSOperation() && role::find(role::OWNER) == Some(pg_sys::GetUserId()) }
}

/// Makes a small table look large to the planner.
#[pg_guard]
unsafe extern "C-unwind" fn enlarge_small_table(
    root: *mut PlannerInfo,
    table: Oid,
    is_parent: bool,
    info: *mut RelOptInfo,
) {
    // SAFETY: the planner passes its own structures. The list contains the table's indexes.
    unsafe {
        if let Some(earlier) = EARLIER_INFO.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, table, is_parent, info));
        }
        if !IS_CACHED.get() || is_parent || (*info).pages >= MIN_PAGES {
            return;
        }
        let (pages, rows) = (f64::from((*info).pages), (*info).tuples);
        let density = if pages > 0.0 && rows > 0.0 { rows / pages } else { ROWS_OF_PAGE };
        (*info).pages = MIN_PAGES;
        (*info).tuples = density * f64::from(MIN_PAGES);
        for index in pgrx::PgList::<IndexOptInfo>::from_pg((*info).indexlist).iter_ptr() {
            // A partial index can stay small.
            if (*index).indpred.is_null() {
                (*index).tuples = (*info).tuples;
                (*index).pages = (*index).pages.max(((*info).tuples / ENTRIES_OF_PAGE).ceil() as u32);
            }
        }
    }
}
