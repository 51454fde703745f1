//! Indexes for conditions under row-level security.
//!
//! PostgreSQL evaluates a policy before any condition that is not leakproof, so such a condition uses no index and no
//! statistics. PostgreSQL marks few functions leakproof: not the comparisons of `numeric`, LIKE, or the array operators.
//! On record tables, conditions that disclose nothing about hidden rows ([`super::leakproof`]) count as leakproof while
//! index paths are created. The policy still filters every row, and conditions without an index path are still evaluated
//! after it.

use super::compat;
use super::leakproof::is_leakproof;
use super::role;
use super::statistics;
use super::superuser_setting::{Switch, rejected};
use pgrx::pg_sys::{self, Node, NodeTag, PlannerInfo, RangeTblEntry, RelOptInfo, RestrictInfo};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The setting `keyed.policy_paths`.
static IS_ON: AtomicBool = AtomicBool::new(true);

thread_local! {
    /// The previous hook.
    static EARLIER: Cell<pg_sys::set_rel_pathlist_hook_type> = const { Cell::new(None) };
}

/// Registers the setting. Only superusers can change it, so `off` reliably keeps counts of hidden rows out of
/// `EXPLAIN (ANALYZE)`.
pub(super) fn register_setting() {
    let switch = Switch {
        name: c"keyed.policy_paths",
        variable: &IS_ON,
        flags: 0,
        summary: c"Lets conditions on record tables use indexes and statistics under row-level security.",
        details:
            c"If off, PostgreSQL applies a policy before most conditions. The setting changes no results.",
    };
    switch.define();
}

/// Whether the setting is on. It counts as off if the session supplied its own value at connection start, because `EXPLAIN`
/// calls no function of keyed that would reject such a session.
fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) && rejected().is_none()
}

/// Registers the hook; called once when the library is loaded.
pub fn register() {
    // SAFETY: the hook lives as long as the library, which is never unloaded; a session has one thread.
    unsafe {
        EARLIER.set(pg_sys::set_rel_pathlist_hook);
        pg_sys::set_rel_pathlist_hook = Some(add_paths);
    }
}

/// Adds the index paths that PostgreSQL omits because of a policy.
#[pg_guard]
unsafe extern "C-unwind" fn add_paths(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: pg_sys::Index,
    table: *mut RangeTblEntry,
) {
    // SAFETY: the planner passes its own structures.
    unsafe {
        if let Some(earlier) = EARLIER.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, relation, number, table));
        }
        if !is_on() || !is_record_table_with_policy(relation, table) {
            return;
        }
        let promoted = Promoted::of(relation);
        if !promoted.conditions.is_empty() {
            estimate(root, relation, (*table).relid, &promoted.conditions);
        }
        if !promoted.changed.is_empty() {
            pg_sys::create_index_paths(root, relation);
            promoted.restore();
        }
    }
}

/// # Safety
/// The arguments are structures of the planner.
unsafe fn is_record_table_with_policy(relation: *mut RelOptInfo, table: *mut RangeTblEntry) -> bool {
    // SAFETY: the caller's.
    unsafe {
        (*table).rtekind == pg_sys::RTEKind::RTE_RELATION
            && !(*table).securityQuals.is_null()
            && !(*table).inh
            && (*table).tablesample.is_null()
            && (*table).relkind == pg_sys::RELKIND_RELATION as std::ffi::c_char
            && !(*relation).indexlist.is_null()
            && !pg_sys::is_dummy_rel(relation)
            && role::find(role::OWNER).is_some_and(|owner| compat::is_owner(owner, (*table).relid))
    }
}

/// Conditions that count as leakproof while index paths are created. They are restored afterwards, so that a condition
/// without an index path is evaluated after the policy.
#[derive(Default)]
struct Promoted {
    /// Restriction clauses of the table.
    conditions: Vec<*mut RestrictInfo>,
    /// All clauses that were changed: these, the arms of their ORs, and join clauses.
    changed: Vec<*mut RestrictInfo>,
}

impl Promoted {
    /// Marks the leakproof restriction clauses of a table, and the join clauses that compare two columns. Estimates of join
    /// clauses do not change.
    ///
    /// # Safety
    /// The relation is a table that is being planned.
    unsafe fn of(relation: *mut RelOptInfo) -> Promoted {
        let mut promoted = Promoted::default();
        // SAFETY: the caller's. The clauses belong to this planner run.
        unsafe {
            let may_promote = |condition: *mut RestrictInfo| {
                let waits = (*condition).security_level > (*relation).baserestrict_min_security;
                waits && !(*condition).leakproof && is_leakproof((*condition).clause.cast())
            };
            for condition in PgList::<RestrictInfo>::from_pg((*relation).baserestrictinfo).iter_ptr() {
                if may_promote(condition) {
                    promoted.conditions.push(condition);
                    promoted.add(condition);
                }
            }
            for condition in PgList::<RestrictInfo>::from_pg((*relation).joininfo).iter_ptr() {
                let is_comparison = is_a((*condition).clause.cast(), NodeTag::T_OpExpr);
                if is_comparison && may_promote(condition) {
                    (*condition).leakproof = true;
                    promoted.changed.push(condition);
                }
            }
        }
        promoted
    }

    /// Marks a clause and the arms of its OR, and discards their cached selectivity.
    ///
    /// # Safety
    /// The clause belongs to the planner and is leakproof.
    unsafe fn add(&mut self, condition: *mut RestrictInfo) {
        // SAFETY: the caller's; an `orclause` consists of RestrictInfo nodes, and of ANDs and ORs of them.
        unsafe {
            if !(*condition).leakproof {
                (*condition).leakproof = true;
                self.changed.push(condition);
            }
            (*condition).norm_selec = -1.0;
            (*condition).outer_selec = -1.0;
            if !(*condition).orclause.is_null() {
                self.add_arms((*condition).orclause.cast());
            }
        }
    }

    /// # Safety
    /// The node belongs to an `orclause`.
    unsafe fn add_arms(&mut self, node: *mut Node) {
        // SAFETY: the caller's.
        unsafe {
            pg_sys::check_stack_depth();
            if is_a(node, NodeTag::T_RestrictInfo) {
                self.add(node.cast());
            } else if is_a(node, NodeTag::T_BoolExpr) {
                for arm in PgList::<Node>::from_pg((*node.cast::<pg_sys::BoolExpr>()).args).iter_ptr() {
                    self.add_arms(arm);
                }
            }
        }
    }

    /// # Safety
    /// The planner run has not ended.
    unsafe fn restore(self) {
        for condition in self.changed {
            // SAFETY: the caller's.
            unsafe { (*condition).leakproof = false };
        }
    }
}

/// Repeats the row estimate with the statistics of the columns. The plan then shows the same estimates as for functions that
/// PostgreSQL marks leakproof.
///
/// # Safety
/// The relation is a table, and the conditions are its promoted restriction clauses.
unsafe fn estimate(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    table: pg_sys::Oid,
    promoted: &[*mut RestrictInfo],
) {
    // SAFETY: the caller's; a clause caches its selectivity.
    unsafe {
        let before = (*relation).rows;
        for condition in promoted {
            statistics::with_statistics(root, table, || {
                pg_sys::clause_selectivity(
                    root,
                    condition.cast(),
                    0,
                    pg_sys::JoinType::JOIN_INNER,
                    std::ptr::null_mut(),
                )
            });
        }
        pg_sys::set_baserel_size_estimates(root, relation);
        for shared in PgList::<pg_sys::ParamPathInfo>::from_pg((*relation).ppilist).iter_ptr() {
            (*shared).ppi_rows =
                pg_sys::get_parameterized_baserel_size(root, relation, (*shared).ppi_clauses);
        }
        for path in PgList::<pg_sys::Path>::from_pg((*relation).pathlist).iter_ptr() {
            let shared = (*path).param_info;
            (*path).rows = if shared.is_null() { (*relation).rows } else { (*shared).ppi_rows };
        }
        let change = if before > 0.0 { (*relation).rows / before } else { 1.0 };
        for path in PgList::<pg_sys::Path>::from_pg((*relation).partial_pathlist).iter_ptr() {
            (*path).rows = pg_sys::clamp_row_est((*path).rows * change);
        }
    }
}
