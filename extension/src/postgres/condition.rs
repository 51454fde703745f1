//! Evaluates a condition on one row without a statement, for example a scope on a record that an index lookup found.
//!
//! PostgreSQL parses and evaluates the condition as in a statement. This avoids a plan for each scope, executor start and
//! end, and the ACL check of the table, whose cost grows with the number of roles that have privileges.

use super::compat;
use super::index::Found;
use super::memory::{Current, Owned, allocated};
use super::spi::connected;
use pgrx::pg_sys;
use std::marker::PhantomData;

/// A condition on the rows of one table. It is valid until the table changes.
pub struct Condition {
    /// The memory context of the expression.
    memory: Owned,
    expression: *mut pg_sys::Expr,
}

impl Condition {
    /// Prepares a condition on a table with the alias `t`. Returns `None` if the condition reads other tables, which needs
    /// a statement. Names are resolved with the current search path.
    pub fn prepare(table: &str, condition: &str) -> Option<Condition> {
        connected(|spi| {
            // `is true` maps null to false.
            let plan = spi.prepare(&format!("select ({condition}) is true from {table} t"), &[]);
            // SAFETY: the statement has one plan source with one query, which live as long as the plan. The expression is
            // copied. The table, which the statement has locked, is closed again.
            unsafe {
                let sources = pg_sys::SPI_plan_get_plan_sources(plan.pointer());
                let source = pg_sys::list_nth(sources, 0).cast::<pg_sys::CachedPlanSource>();
                let query = pg_sys::list_nth((*source).query_list, 0).cast::<pg_sys::Query>();
                if (*query).hasSubLinks || pg_sys::list_length((*query).rtable) != 1 {
                    return None;
                }
                // Only a statement applies FORCE ROW LEVEL SECURITY.
                let table = pg_sys::list_nth((*query).rtable, 0).cast::<pg_sys::RangeTblEntry>();
                if !(*table).securityQuals.is_null() {
                    return None;
                }
                // Tuples do not contain virtual columns.
                let relation = pg_sys::RelationIdGetRelation((*table).relid);
                let has_virtual = !relation.is_null() && compat::has_virtual_columns((*relation).rd_att);
                if !relation.is_null() {
                    pg_sys::RelationClose(relation);
                }
                if has_virtual {
                    return None;
                }
                let column = pg_sys::list_nth((*query).targetList, 0).cast::<pg_sys::TargetEntry>();
                Some(Condition::keep((*column).expr))
            }
        })
    }

    /// # Safety
    /// The expression reads one table.
    unsafe fn keep(expression: *mut pg_sys::Expr) -> Condition {
        // SAFETY: the simplified expression is copied into its own memory context, which nothing else refers to.
        unsafe {
            let simplified = pg_sys::expression_planner(expression);
            let memory = Owned::below(pg_sys::CacheMemoryContext, c"keyed condition");
            let current = Current::switch_to(memory.context());
            let expression = pg_sys::copyObjectImpl(simplified.cast()).cast();
            drop(current);
            Condition { memory, expression }
        }
    }

    /// The memory that it uses.
    pub fn bytes(&self) -> usize {
        // SAFETY: the context lives as long as the condition.
        unsafe { allocated(self.memory.context()) }
    }

    /// Initializes the expression for evaluation.
    pub fn ready(&self) -> Ready<'_> {
        // SAFETY: the expression is initialized for each caller, because a state that an error interrupted must not be used
        // again. Allocations are freed with the expression context, or with the caller's memory context.
        unsafe {
            let context = pg_sys::CreateStandaloneExprContext();
            let current = Current::switch_to((*context).ecxt_per_query_memory);
            let state = pg_sys::ExecInitExpr(self.expression, std::ptr::null_mut());
            drop(current);
            Ready { context, state, condition: PhantomData }
        }
    }
}

/// A condition that is initialized for evaluation.
pub struct Ready<'c> {
    context: *mut pg_sys::ExprContext,
    state: *mut pg_sys::ExprState,
    condition: PhantomData<&'c Condition>,
}

impl Ready<'_> {
    /// Whether the condition is true for a row of its table.
    pub fn holds_for(&self, row: &Found) -> bool {
        // SAFETY: the slot holds the row that was found.
        unsafe { self.holds_for_slot(row.slot()) }
    }

    /// # Safety
    /// The slot holds a row of the table.
    pub(super) unsafe fn holds_for_slot(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: the state belongs to the condition; PostgreSQL checks that the row has its columns.
        unsafe {
            (*self.context).ecxt_scantuple = slot;
            // ExecCheck treats null as true, but the expression is never null.
            let holds = pg_sys::ExecCheck(self.state, self.context);
            pg_sys::MemoryContextReset((*self.context).ecxt_per_tuple_memory);
            holds
        }
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        // SAFETY: `ready` created the context in the caller's memory context, which still exists.
        unsafe { pg_sys::FreeExprContext(self.context, false) };
    }
}
