//! What other sessions' changes make stale.
//!
//! PostgreSQL tells every session when a table's definition changed. The caches of this crate ride on that: an
//! ALTER TABLE announces itself, and a change of metadata alone is announced on purpose.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};

/// Past this many forgotten tables it is cheaper to forget everything.
const MOST_STALE: usize = 64;

thread_local! {
    static STALE: RefCell<Vec<Oid>> = const { RefCell::new(Vec::new()) };
    static ANY_STALE: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Registers the callback; called once when the library is loaded.
pub fn register() {
    // SAFETY: the callbacks live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(forget), Datum::from(0usize));
        // A role has what its memberships give it, as far as it inherits.
        for cache in [pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM, pg_sys::SysCacheIdentifier::AUTHOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(forget_all), Datum::from(0usize));
        }
    }
}

/// Who is a member of which role decides who may do what, everywhere.
#[pg_guard]
unsafe extern "C-unwind" fn forget_all(_unused: Datum, _cache: i32, _hash: u32) {
    note(Oid::INVALID);
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_unused: Datum, table: Oid) {
    note(table);
}

/// Only takes a note: the message can arrive in the middle of anything, where dropping plans would be unsafe.
pub fn note(table: Oid) {
    ANY_STALE.set(true);
    COUNT.set(COUNT.get().wrapping_add(1));
    STALE.with_borrow_mut(|stale| {
        if table == Oid::INVALID || stale.len() >= MOST_STALE {
            stale.clear();
            stale.push(Oid::INVALID);
        } else if stale.last() != Some(&Oid::INVALID) {
            stale.push(table);
        }
    });
}

/// How many announcements have come in, so that what was read before one is not remembered after it.
pub fn count() -> u64 {
    COUNT.get()
}

/// Hands over the tables that changed since the last call; `Oid::INVALID` stands for all of them.
pub fn take_stale() -> Option<Vec<Oid>> {
    // What others have committed is told when a lock is taken; within a transaction that has all its locks, it is not.
    // SAFETY: called in a transaction, where PostgreSQL does the same whenever it locks a table.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    ANY_STALE.replace(false).then(|| STALE.take())
}

/// Tells every session, at commit, that what it remembers of `table` is stale.
pub fn announce(table: Oid) {
    // SAFETY: queues a message for the end of the transaction.
    unsafe { pg_sys::CacheInvalidateRelcacheByRelid(table) };
}
