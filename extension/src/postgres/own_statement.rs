//! Distinguishes keyed's own statements from direct DML and from statements of other triggers.
//!
//! A row counts as written by keyed only if a statement of a keyed function fired the trigger.

use pgrx::pg_sys::{self, Oid};
use std::cell::RefCell;

thread_local! {
    /// The tables that keyed's running statements write to, innermost last, each with the trigger depth of its
    /// statement.
    static TARGETS: RefCell<Vec<(Oid, i32)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a statement of keyed that writes records of this table. The function has checked privileges and references, and
/// writes the series itself.
pub fn writing<R>(table: Oid, body: impl FnOnce() -> R) -> R {
    let _entry = Entry::push(table, trigger_depth());
    body()
}

/// Whether a statement inside [`writing`] fired the running trigger, rather than direct DML or a nested trigger.
pub fn is_own_statement(table: Oid) -> bool {
    let innermost = TARGETS.with_borrow(|targets| targets.last().copied());
    innermost.is_some_and(|(target, depth)| target == table && depth + 1 == trigger_depth())
}

fn trigger_depth() -> i32 {
    // SAFETY: the function ignores its argument and reads a session variable.
    unsafe { pg_sys::pg_trigger_depth(std::ptr::null_mut()).value() as i32 }
}

/// The last entry of [`TARGETS`]. Dropping it, also during unwinding, removes the entry.
struct Entry;

impl Entry {
    fn push(table: Oid, depth: i32) -> Entry {
        TARGETS.with_borrow_mut(|targets| targets.push((table, depth)));
        Entry
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        TARGETS.with_borrow_mut(Vec::pop);
    }
}
