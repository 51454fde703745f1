//! Plans cached statements for large tables.
//!
//! A session caches its statements, and PostgreSQL plans them once, for the present table sizes. For a table of one
//! page, the best plan is a sequential scan, which it keeps for a million records: PostgreSQL plans again when a
//! table is altered or analyzed, not when it grows. So a cached statement is planned as if every table had 1000
//! pages or more. It then uses indexes, which costs a page or two more on a small table. Foreign-key checks, which
//! PostgreSQL caches itself, are planned the same way.

use super::role;
use pgrx::pg_sys::{self, IndexOptInfo, Oid, ParamListInfo, PlannedStmt, PlannerInfo, Query, RelOptInfo};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{c_char, c_int};

/// Marks a statement that is kept, among the options of cursors, which reach the planner. PostgreSQL gives the low bits
/// away.
pub const KEPT: c_int = 1 << 30;

/// The assumed minimum number of pages of a table: too few for a parallel plan, and enough that a sequential scan
/// costs more than some dozen index lookups.
const MIN_PAGES: u32 = 1000;
/// So many rows are on a page of a table of which nothing is known.
const ROWS_OF_PAGE: f64 = 50.0;
/// So many entries are on a page of an index, about.
const ENTRIES_OF_PAGE: f64 = 200.0;

thread_local! {
    /// Whether a statement is being planned that is kept.
    static IS_KEPT: Cell<bool> = const { Cell::new(false) };
    /// Whom other libraries that were loaded before have put here.
    static EARLIER_PLANNER: Cell<pg_sys::planner_hook_type> = const { Cell::new(None) };
    static EARLIER_INFO: Cell<pg_sys::get_relation_info_hook_type> = const { Cell::new(None) };
}

/// How a statement is to find the rows of a table, where PostgreSQL would choose by what it expects of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Along an index in the order that is asked for.
    Walk,
    /// By an index of a condition.
    Lookup,
}

/// Runs statements that are planned in this shape, wherever it is possible. A kept statement must always be run in the same
/// shape, since it may be planned at any time.
pub fn in_shape<R>(shape: Shape, body: impl FnOnce() -> R) -> R {
    let _restored = Switches::set(shape);
    body()
}

/// PostgreSQL's own switches of the planner, as they were: they come back when it is dropped, also when an error unwinds. To
/// set them as settings would cost each statement a walk over all settings.
struct Switches([bool; 3]);

impl Switches {
    fn set(shape: Shape) -> Switches {
        // SAFETY: the variables belong to this session, which has one thread.
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
        pg_sys::get_relation_info_hook = Some(see_as_grown);
    }
}

/// Sets what is being planned, until it is dropped: planning may plan what it evaluates, and may fail.
struct Planning {
    outer: bool,
}

impl Planning {
    fn begin(is_kept: bool) -> Planning {
        Planning { outer: IS_KEPT.replace(is_kept) }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        IS_KEPT.set(self.outer);
    }
}

/// Plans a statement as PostgreSQL does, and marks whether it is a cached one.
#[pg_guard]
unsafe extern "C-unwind" fn plan(
    query: *mut Query,
    text: *const c_char,
    options: c_int,
    parameters: ParamListInfo,
) -> *mut PlannedStmt {
    let _planning = Planning::begin(options & KEPT != 0 || is_check_of_ours());
    let options = options & !KEPT;
    // SAFETY: what PostgreSQL handed over is passed on. Only the hook of another library needs the guard here: pgrx has
    // put one around PostgreSQL's own function, and an error cannot unwind through two.
    unsafe {
        match EARLIER_PLANNER.get() {
            Some(earlier) => pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(query, text, options, parameters)),
            None => pg_sys::standard_planner(query, text, options, parameters),
        }
    }
}

/// Whether this is the statement by which PostgreSQL checks a foreign key of a table of ours: it runs as the owner of the
/// table, above policies even where they are forced, as nothing else does.
fn is_check_of_ours() -> bool {
    // SAFETY: reads variables of the session.
    unsafe { pg_sys::InNoForceRLSOperation() && role::find(role::OWNER) == Some(pg_sys::GetUserId()) }
}

/// Lets the planner see a small table as one that has grown.
#[pg_guard]
unsafe extern "C-unwind" fn see_as_grown(
    root: *mut PlannerInfo,
    table: Oid,
    is_parent: bool,
    info: *mut RelOptInfo,
) {
    // SAFETY: the planner hands over its own structures; the list holds what it knows of the table's indexes.
    unsafe {
        if let Some(earlier) = EARLIER_INFO.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, table, is_parent, info));
        }
        if !IS_KEPT.get() || is_parent || (*info).pages >= MIN_PAGES {
            return;
        }
        let (pages, rows) = (f64::from((*info).pages), (*info).tuples);
        let density = if pages > 0.0 && rows > 0.0 { rows / pages } else { ROWS_OF_PAGE };
        (*info).pages = MIN_PAGES;
        (*info).tuples = density * f64::from(MIN_PAGES);
        for index in pgrx::PgList::<IndexOptInfo>::from_pg((*info).indexlist).iter_ptr() {
            // A partial index may stay as small as it is.
            if (*index).indpred.is_null() {
                (*index).tuples = (*info).tuples;
                (*index).pages = (*index).pages.max(((*info).tuples / ENTRIES_OF_PAGE).ceil() as u32);
            }
        }
    }
}
