//! Gives the planner the statistics of keyed's tables without an ACL check, and a selectivity support function.

use super::compat;
use super::function::paste_finfo;
use super::guard;
use pgrx::pg_sys::{self, AttrNumber, Datum, HeapTuple, Oid, PlannerInfo, RangeTblEntry, VariableStatData};
use pgrx::prelude::*;
use std::cell::Cell;

thread_local! {
    /// The previous hook.
    static EARLIER: Cell<pg_sys::get_relation_stats_hook_type> = const { Cell::new(None) };
    /// The planner run and the table with a policy whose statistics an estimate may use. A nested planner run may not use
    /// them.
    static ALLOWED: Cell<Option<(*mut PlannerInfo, Oid)>> = const { Cell::new(None) };
}

/// Lets an estimate use the statistics of a table with a policy. The estimated condition must be leakproof.
pub(super) fn with_statistics<R>(root: *mut PlannerInfo, table: Oid, estimate: impl FnOnce() -> R) -> R {
    let _allowed = Allowed(ALLOWED.replace(Some((root, table))));
    estimate()
}

/// The previous value. Dropping this, also during unwinding, restores it.
struct Allowed(Option<(*mut PlannerInfo, Oid)>);

impl Drop for Allowed {
    fn drop(&mut self) {
        ALLOWED.set(self.0);
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

/// Finds the statistics of a column as PostgreSQL does, but checks ownership instead of the ACL, since an owner can always
/// grant itself SELECT. PostgreSQL would decode the ACL for each condition of a statement, which takes longer than the rest
/// of planning if a thousand roles have privileges.
#[pg_guard]
unsafe extern "C-unwind" fn find_statistics(
    root: *mut PlannerInfo,
    table: *mut RangeTblEntry,
    column: AttrNumber,
    found: *mut VariableStatData,
) -> bool {
    // SAFETY: the planner passes its own structures. The statistics tuple is pinned until the planner calls `freefunc`.
    unsafe {
        if let Some(earlier) = EARLIER.get()
            && pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, table, column, found))
        {
            return true;
        }
        let is_allowed = (*table).rtekind == pg_sys::RTEKind::RTE_RELATION
            && (ALLOWED.get() == Some((root, (*table).relid))
                || guard::is_own_work()
                    && (*table).securityQuals.is_null()
                    && compat::is_read_by_user(root, table)
                    && compat::is_owner(pg_sys::GetUserId(), (*table).relid));
        if is_allowed {
            (*found).statsTuple = pg_sys::SearchSysCache3(
                pg_sys::SysCacheIdentifier::STATRELATTINH as i32,
                Datum::from((*table).relid),
                Datum::from(column),
                Datum::from((*table).inh),
            );
            (*found).freefunc = Some(release);
            (*found).acl_ok = true;
        }
        is_allowed
    }
}

/// # Safety
/// The tuple comes from [`find_statistics`] and is not used afterwards.
#[pg_guard]
unsafe extern "C-unwind" fn release(statistics: HeapTuple) {
    // SAFETY: the caller's.
    unsafe { pg_sys::ReleaseSysCache(statistics) }
}

/// A planner support function: the selectivity of its function is 1.
///
/// # Safety
/// The argument is a support request of the planner.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn keyed_always_passes(call: pg_sys::FunctionCallInfo) -> Datum {
    // SAFETY: a support request begins with its node tag. Other kinds of requests are not supported.
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
