//! Cache invalidation across sessions.
//!
//! PostgreSQL sends an invalidation message to every session when a table's definition changes. keyed's caches use these
//! messages. ALTER TABLE sends one automatically. For changes of rows, the trigger `keyed_announce` on projects, keys,
//! grants and quotas (`sql/state/`) calls [`announce`], and so do changes of definitions. `_PG_init` (`lib.rs`) lists the
//! entries that each cache drops.
//!
//! A message is processed only for a watched table, so a table is watched before it is read. Otherwise temporary tables of
//! any login would flush the caches of all sessions. If a session misses messages, PostgreSQL resets its own caches, and
//! keyed's caches are reset too.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// The changes since the last check.
#[derive(Default)]
pub struct Stale {
    /// Anything may have changed.
    pub everything: bool,
    /// Roles or role memberships.
    pub roles: bool,
    /// Watched tables.
    pub tables: HashSet<Oid>,
}

impl Stale {
    /// Whether cached data about a table may be stale.
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
        // Privileges depend on memberships and on INHERIT.
        for cache in [pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM, pg_sys::SysCacheIdentifier::AUTHOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(forget_roles), Datum::from(0usize));
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn forget_roles(_unused: Datum, _cache: i32, _hash: u32) {
    add(|stale| stale.roles = true);
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_unused: Datum, table: Oid) {
    note(table);
}

/// Watches a table for the rest of the session. Call this before you read data that you cache, so that no change is
/// missed.
pub fn watch(table: Oid) {
    WATCHED.with_borrow_mut(|watched| watched.insert(table));
}

/// Records a change. Caches are not dropped here, because a message can arrive at any time, for example while a cached
/// plan runs.
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

/// The number of recorded changes. If it changes during a read, the value that was read must not be cached.
pub fn count() -> u64 {
    COUNT.get()
}

/// Returns the changes since the last call.
pub fn take_stale() -> Option<Stale> {
    // PostgreSQL processes messages when it takes a lock. A transaction that already has all its locks would not.
    // SAFETY: called in a transaction, where PostgreSQL does the same for each table lock.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    ANY_STALE.replace(false).then(|| STALE.take())
}

/// Invalidates cached data about `table` in every session, at commit.
pub fn announce(table: Oid) {
    // SAFETY: queues a message for the end of the transaction.
    unsafe { pg_sys::CacheInvalidateRelcacheByRelid(table) };
}
