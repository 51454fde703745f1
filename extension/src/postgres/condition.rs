//! Evaluates a condition on one row without a statement: a scope on a record that an index found.
//!
//! PostgreSQL parses and evaluates the condition as in a statement. This saves a plan for each scope, starting and
//! ending the executor, and its check of the table's ACL, which takes longer the more roles have privileges.

use super::compat;
use super::footprint::allocated;
use super::index::Found;
use super::memory::{Current, Owned};
use super::spi::connected;
use pgrx::pg_sys;
use std::marker::PhantomData;

/// A condition on the rows of one table, as the table is now: it must be forgotten when the table changes.
pub struct Condition {
    /// Where the expression is.
    memory: Owned,
    expression: *mut pg_sys::Expr,
}

impl Condition {
    /// Prepares a condition over a table under the alias `t`; none where it looks into other tables too, which only a
    /// statement can. Names are found as the session finds them now.
    pub fn prepare(table: &str, condition: &str) -> Option<Condition> {
        connected(|spi| {
            // A comparison with null is null, and lets nothing pass.
            let plan = spi.prepare(&format!("select ({condition}) is true from {table} t"), &[]);
            // SAFETY: the one statement has a plan source with its one query, which live as long as the plan; what is
            // kept of them is copied. The table, which the statement has locked, is closed again.
            unsafe {
                let sources = pg_sys::SPI_plan_get_plan_sources(plan.pointer());
                let source = pg_sys::list_nth(sources, 0).cast::<pg_sys::CachedPlanSource>();
                let query = pg_sys::list_nth((*source).query_list, 0).cast::<pg_sys::Query>();
                if (*query).hasSubLinks || pg_sys::list_length((*query).rtable) != 1 {
                    return None;
                }
                // Only a statement applies policies that are forced upon the owner too.
                let table = pg_sys::list_nth((*query).rtable, 0).cast::<pg_sys::RangeTblEntry>();
                if !(*table).securityQuals.is_null() {
                    return None;
                }
                // A row does not contain what is computed when it is read.
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
    /// The expression is one over the row of a single table.
    unsafe fn keep(expression: *mut pg_sys::Expr) -> Condition {
        // SAFETY: the expression is simplified where it is, and a copy of the outcome put into memory of its own, which
        // nothing else points into.
        unsafe {
            let simplified = pg_sys::expression_planner(expression);
            let memory = Owned::below(pg_sys::CacheMemoryContext, c"keyed condition");
            let current = Current::switch_to(memory.context());
            let expression = pg_sys::copyObjectImpl(simplified.cast()).cast();
            drop(current);
            Condition { memory, expression }
        }
    }

    /// What it takes of memory.
    pub fn bytes(&self) -> usize {
        // SAFETY: the context lives as long as the condition.
        unsafe { allocated(self.memory.context()) }
    }

    /// Makes it ready to be asked of rows.
    pub fn ready(&self) -> Ready<'_> {
        // SAFETY: the expression is initialized for each caller, since a state that an error has interrupted must not
        // be used again. What is allocated is freed with the context, or with the memory of the caller.
        unsafe {
            let context = pg_sys::CreateStandaloneExprContext();
            let current = Current::switch_to((*context).ecxt_per_query_memory);
            let state = pg_sys::ExecInitExpr(self.expression, std::ptr::null_mut());
            drop(current);
            Ready { context, state, condition: PhantomData }
        }
    }
}

/// A condition that is ready to be asked of rows.
pub struct Ready<'c> {
    context: *mut pg_sys::ExprContext,
    state: *mut pg_sys::ExprState,
    condition: PhantomData<&'c Condition>,
}

impl Ready<'_> {
    /// Whether it holds for a row of its table.
    pub fn holds_for(&self, row: &Found) -> bool {
        // SAFETY: a row that was found has a slot of its own.
        unsafe { self.holds_for_slot(row.slot()) }
    }

    /// # Safety
    /// The slot holds a row of the table.
    pub(super) unsafe fn holds_for_slot(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: the state belongs to the condition; PostgreSQL checks that the row has the columns it names.
        unsafe {
            (*self.context).ecxt_scantuple = slot;
            // Null would count as true; the expression is never null.
            let holds = pg_sys::ExecCheck(self.state, self.context);
            pg_sys::MemoryContextReset((*self.context).ecxt_per_tuple_memory);
            holds
        }
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by `ready`, in memory that the caller still has.
        unsafe { pg_sys::FreeExprContext(self.context, false) };
    }
}
