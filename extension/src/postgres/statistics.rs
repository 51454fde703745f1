//! Hides statistics of tables from the planner.

use super::compat;
use super::function::paste_finfo;
use super::guard;
use pgrx::pg_sys::{self, AttrNumber, Datum, HeapTuple, Oid, PlannerInfo, RangeTblEntry, VariableStatData};
use pgrx::prelude::*;
use std::cell::Cell;

thread_local! {
    /// Whom another library that was loaded before has put here.
    static EARLIER: Cell<pg_sys::get_relation_stats_hook_type> = const { Cell::new(None) };
    /// The planning and the table with a policy whose statistics an estimate may use. Another planning within it may not.
    static SHOWN: Cell<Option<(*mut PlannerInfo, Oid)>> = const { Cell::new(None) };
}

/// Lets an estimate use the statistics of a table with a policy. What it evaluates with them must be leakproof.
pub(super) fn shown<R>(root: *mut PlannerInfo, table: Oid, estimate: impl FnOnce() -> R) -> R {
    let _shown = Shown(SHOWN.replace(Some((root, table))));
    estimate()
}

/// What was before, which comes back when it is dropped, also when an error unwinds.
struct Shown(Option<(*mut PlannerInfo, Oid)>);

impl Drop for Shown {
    fn drop(&mut self) {
        SHOWN.set(self.0);
    }
}

/// Registers the hook; called once when the library is loaded.
pub fn register() {
    // SAFETY: the hook lives as long as the library, which is never unloaded; a session has one thread.
    unsafe {
        EARLIER.set(pg_sys::get_relation_stats_hook);
        pg_sys::get_relation_stats_hook = Some(find_statistics);
    }
}

/// Finds the statistics of a column as PostgreSQL does, but asks only whether the table is ours, not for the list of all
/// who may read it: with a thousand roles on it, that is unpacked once for each condition of a statement, and takes
/// longer than the rest of the planning. The owner of a table may read it, or grant it to himself.
#[pg_guard]
unsafe extern "C-unwind" fn find_statistics(
    root: *mut PlannerInfo,
    table: *mut RangeTblEntry,
    column: AttrNumber,
    found: *mut VariableStatData,
) -> bool {
    // SAFETY: the planner hands over its own structures; a row of statistics is held until it calls `freefunc`.
    unsafe {
        if let Some(earlier) = EARLIER.get()
            && pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, table, column, found))
        {
            return true;
        }
        let is_ours = (*table).rtekind == pg_sys::RTEKind::RTE_RELATION
            && (SHOWN.get() == Some((root, (*table).relid))
                || guard::is_own_work()
                    && (*table).securityQuals.is_null()
                    && compat::is_read_by_user(root, table)
                    && compat::is_owner(pg_sys::GetUserId(), (*table).relid));
        if is_ours {
            (*found).statsTuple = pg_sys::SearchSysCache3(
                pg_sys::SysCacheIdentifier::STATRELATTINH as i32,
                Datum::from((*table).relid),
                Datum::from(column),
                Datum::from((*table).inh),
            );
            (*found).freefunc = Some(release);
            (*found).acl_ok = true;
        }
        is_ours
    }
}

/// # Safety
/// The row comes from [`find_statistics`] and is not used afterwards.
#[pg_guard]
unsafe extern "C-unwind" fn release(statistics: HeapTuple) {
    // SAFETY: the caller's.
    unsafe { pg_sys::ReleaseSysCache(statistics) }
}

/// For the planner, a condition that this function belongs to lets every row pass.
///
/// # Safety
/// The argument is a request of the planner.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn keyed_always_passes(call: pg_sys::FunctionCallInfo) -> Datum {
    // SAFETY: the planner hands over a request, which begins with its kind; of others than this one nothing is known.
    unsafe {
        let request = (*(*call).args.as_ptr()).value.cast_mut_ptr::<pg_sys::SupportRequestSelectivity>();
        if (*request).type_ != pg_sys::NodeTag::T_SupportRequestSelectivity {
            return Datum::from(0usize);
        }
        (*request).selectivity = 1.0;
        Datum::from(request)
    }
}
paste_finfo! { keyed_always_passes }
