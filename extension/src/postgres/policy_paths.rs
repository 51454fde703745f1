//! Indexes for conditions under row-level security.
//!
//! PostgreSQL evaluates a policy before any condition of the query that is not leakproof, and such a condition uses no index
//! and no statistics. It calls few functions leakproof: not the comparisons of `numeric`, LIKE, and the operators of arrays.
//! For record tables, a condition of functions that can say nothing about a row that a policy hides counts as leakproof here
//! while index paths are looked for, as if PostgreSQL called these functions so. The policy stays a filter of every row, and
//! what no index serves stays behind it.
//!
//! [`super::leakproof`] has the list.

use super::compat;
use super::leakproof::is_leakproof;
use super::role;
use super::statistics;
use super::superuser_setting::{Switch, refused};
use pgrx::pg_sys::{self, Node, NodeTag, PlannerInfo, RangeTblEntry, RelOptInfo, RestrictInfo};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// `keyed.policy_paths`, written by PostgreSQL.
static IS_ON: AtomicBool = AtomicBool::new(true);

thread_local! {
    /// Whom another library that was loaded before has put here.
    static EARLIER: Cell<pg_sys::set_rel_pathlist_hook_type> = const { Cell::new(None) };
}

/// Registers the setting. Only superusers set it, so that `off` keeps counts of hidden rows out of `EXPLAIN (ANALYZE)`.
pub(super) fn register_setting() {
    let switch = Switch {
        name: c"keyed.policy_paths",
        variable: &IS_ON,
        flags: 0,
        says: c"Whether conditions on record tables use indexes and statistics under row-level security.",
        more:
            c"Off has PostgreSQL's own plans, which apply a policy before most conditions. Changes no result.",
    };
    switch.define();
}

/// Whether the setting is on, and no login has put its own value in place of an administrator's. `EXPLAIN` calls no function
/// that would refuse such a session.
fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) && refused().is_none()
}

/// Registers the hook; called once when the library is loaded.
pub fn register() {
    // SAFETY: the hook lives as long as the library, which is never unloaded; a session has one thread.
    unsafe {
        EARLIER.set(pg_sys::set_rel_pathlist_hook);
        pg_sys::set_rel_pathlist_hook = Some(add_paths);
    }
}

/// Adds the ways of reading a table that PostgreSQL leaves out because of a policy.
#[pg_guard]
unsafe extern "C-unwind" fn add_paths(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: pg_sys::Index,
    table: *mut RangeTblEntry,
) {
    // SAFETY: the planner hands over its own structures.
    unsafe {
        if let Some(earlier) = EARLIER.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| earlier(root, relation, number, table));
        }
        if !is_on() || !is_record_table_with_policy(relation, table) {
            return;
        }
        let released = Released::of(relation);
        if !released.conditions.is_empty() {
            estimate(root, relation, (*table).relid, &released.conditions);
        }
        if !released.changed.is_empty() {
            pg_sys::create_index_paths(root, relation);
            released.take_back();
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

/// Conditions that count as leakproof while index paths are looked for. Afterwards they do not, so that one that no index
/// serves stays a filter behind the policy.
#[derive(Default)]
struct Released {
    /// Conditions of the table.
    conditions: Vec<*mut RestrictInfo>,
    /// These and their arms, and conditions of joins, as far as PostgreSQL does not call them leakproof.
    changed: Vec<*mut RestrictInfo>,
}

impl Released {
    /// Lets those of the conditions of a table count as leakproof that are, and those of its joins that compare two columns.
    /// The latter are estimated as before.
    ///
    /// # Safety
    /// The relation is a table that is being planned.
    unsafe fn of(relation: *mut RelOptInfo) -> Released {
        let mut released = Released::default();
        // SAFETY: the caller's. A condition belongs to this one planning.
        unsafe {
            let is_released = |condition: *mut RestrictInfo| {
                let waits = (*condition).security_level > (*relation).baserestrict_min_security;
                waits && !(*condition).leakproof && is_leakproof((*condition).clause.cast())
            };
            for condition in PgList::<RestrictInfo>::from_pg((*relation).baserestrictinfo).iter_ptr() {
                if is_released(condition) {
                    released.conditions.push(condition);
                    released.add(condition);
                }
            }
            for condition in PgList::<RestrictInfo>::from_pg((*relation).joininfo).iter_ptr() {
                let is_comparison = is_a((*condition).clause.cast(), NodeTag::T_OpExpr);
                if is_comparison && is_released(condition) {
                    (*condition).leakproof = true;
                    released.changed.push(condition);
                }
            }
        }
        released
    }

    /// Releases a condition, and those that an OR consists of. What was estimated of them is estimated again.
    ///
    /// # Safety
    /// The condition is one of the planner, and leakproof.
    unsafe fn add(&mut self, condition: *mut RestrictInfo) {
        // SAFETY: the caller's; an `orclause` consists of conditions, and of ANDs and ORs of such.
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
    /// The node is a part of an `orclause`.
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
    /// The planning has not ended.
    unsafe fn take_back(self) {
        for condition in self.changed {
            // SAFETY: the caller's.
            unsafe { (*condition).leakproof = false };
        }
    }
}

/// Estimates again how many rows the conditions leave, with the statistics of their columns. Each of them is evaluated
/// before the policy, so the plan shows what it finds, as for a function that PostgreSQL calls leakproof.
///
/// # Safety
/// The relation is a table, and the conditions are those of its that are released.
unsafe fn estimate(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    table: pg_sys::Oid,
    released: &[*mut RestrictInfo],
) {
    // SAFETY: the caller's; a condition keeps what is estimated of it.
    unsafe {
        let before = (*relation).rows;
        for condition in released {
            statistics::shown(root, table, || {
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
