//! Which rows are written by keyed's own statements, and not by direct SQL or by other triggers.
//!
//! A row is keyed's own write only if the statement that fired the trigger is the one that a function of keyed runs.

use pgrx::pg_sys::{self, Oid};
use std::cell::RefCell;

thread_local! {
    /// The tables that statements of our functions write to, the innermost last, each with the depth of triggers at
    /// which its statement runs.
    static WRITTEN: RefCell<Vec<(Oid, i32)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a statement of our own that writes records of this table: its caller's rights and its references are checked, and
/// it keeps series itself.
pub fn writing<R>(table: Oid, body: impl FnOnce() -> R) -> R {
    let _entry = Entry::push(table, trigger_depth());
    body()
}

/// Whether the running trigger was fired by a statement inside [`writing`], and not by direct SQL or by another
/// trigger within it.
pub fn is_own_statement(table: Oid) -> bool {
    let innermost = WRITTEN.with_borrow(|written| written.last().copied());
    innermost.is_some_and(|(written, depth)| written == table && depth + 1 == trigger_depth())
}

fn trigger_depth() -> i32 {
    // SAFETY: the function takes no argument and reads a variable of the session.
    unsafe { pg_sys::pg_trigger_depth(std::ptr::null_mut()).value() as i32 }
}

/// The last entry of [`WRITTEN`], taken off when it is dropped: also when an error unwinds.
struct Entry;

impl Entry {
    fn push(table: Oid, depth: i32) -> Entry {
        WRITTEN.with_borrow_mut(|written| written.push((table, depth)));
        Entry
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        WRITTEN.with_borrow_mut(Vec::pop);
    }
}
