//! Cache invalidation by changes of other sessions.
//!
//! PostgreSQL sends every session an invalidation message when a table's definition changes, and the caches of this
//! crate use these messages. ALTER TABLE sends one automatically. Tables of keyed announce changes of their rows: the
//! trigger `keyed_announce` on projects, keys, grants and quotas (`sql/state/`) calls [`announce`], and a change of a
//! definition calls it directly. `_PG_init` (`lib.rs`) lists what each cache drops.
//!
//! A message counts only if the session caches something of that table, so a table is watched before it is read.
//! Otherwise temporary tables of any login would flush the caches of all sessions. If a session misses messages and
//! PostgreSQL resets its own caches, these caches are reset as well.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// What changed.
#[derive(Default)]
pub struct Stale {
    /// Anything may have changed.
    pub everything: bool,
    /// Roles, or who is a member of which.
    pub roles: bool,
    /// Watched tables.
    pub tables: HashSet<Oid>,
}

impl Stale {
    /// Whether what is known of a table may be outdated.
    pub fn has(&self, table: Oid) -> bool {
        self.everything || self.tables.contains(&table)
    }
}

thread_local! {
    static WATCHED: RefCell<HashSet<Oid>> = RefCell::default();
    static STALE: RefCell<Stale> = RefCell::default();
    static ANY_STALE: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Registers the callbacks; called once when the library is loaded.
pub fn register() {
    // SAFETY: the callbacks live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(forget), Datum::from(0usize));
        // A role has what its memberships give it, as far as it inherits.
        for cache in [pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM, pg_sys::SysCacheIdentifier::AUTHOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(forget_roles), Datum::from(0usize));
        }
    }
}

/// Who is a member of which role decides who may do what.
#[pg_guard]
unsafe extern "C-unwind" fn forget_roles(_unused: Datum, _cache: i32, _hash: u32) {
    add(|stale| stale.roles = true);
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_unused: Datum, table: Oid) {
    note(table);
}

/// Watches a table for changes. Watch a table before reading what you cache of it, for the whole session, so that no
/// change is missed.
pub fn watch(table: Oid) {
    WATCHED.with_borrow_mut(|watched| watched.insert(table));
}

/// Only takes a note: the message can arrive in the middle of anything, where dropping plans would be unsafe.
pub fn note(table: Oid) {
    if table == Oid::INVALID {
        add(|stale| stale.everything = true);
    } else if WATCHED.with_borrow(|watched| watched.contains(&table)) {
        add(|stale| {
            stale.tables.insert(table);
        });
    }
}

fn add(change: impl FnOnce(&mut Stale)) {
    ANY_STALE.set(true);
    COUNT.set(COUNT.get().wrapping_add(1));
    STALE.with_borrow_mut(change);
}

/// The number of processed changes, so that a value read before a change is not cached after it.
pub fn count() -> u64 {
    COUNT.get()
}

/// Hands over what changed since the last call.
pub fn take_stale() -> Option<Stale> {
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
