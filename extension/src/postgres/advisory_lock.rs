//! Advisory locks.
//!
//! PostgreSQL's SQL functions cannot take locks with these tags, so no session can block keyed on purpose.

use pgrx::pg_sys;

/// The class of an advisory lock (`objsubid` in `pg_locks`). SQL functions use 1 and 2. The view `keyed.stat_activity` has a
/// name for each.
#[derive(Clone, Copy)]
#[repr(u16)]
pub enum LockKind {
    /// A request with an Idempotency-Key.
    Request = 3,
    /// A quota of a project.
    Quota = 4,
    /// The state of the database, during setup and migrations.
    Setup = 5,
    /// A template during an all-or-nothing import.
    Import = 6,
    /// Jobs. The workers themselves hold the numbers 0 and -1 ([`crate::job`]). Other numbers are running jobs.
    Job = 7,
    /// Definitions of a project.
    Definition = 8,
    /// PostgreSQL's privileges in a project.
    Privileges = 9,
    /// A run of `doctor`.
    Examination = 10,
    /// The session of an all-or-nothing import and its start time, for waiting sessions.
    Importer = 11,
}

/// The lock mode.
#[derive(Clone, Copy)]
pub enum Mode {
    /// Compatible with other shared locks.
    Shared,
    /// Compatible with no other lock.
    Exclusive,
}

/// Takes a lock until the (sub)transaction ends. Waits if necessary. Each number is a separate lock.
pub fn lock(kind: LockKind, number: u64, mode: Mode) {
    acquire(kind, number, mode, false);
}

/// Takes a lock if it is available immediately.
pub fn try_lock(kind: LockKind, number: u64, mode: Mode) -> bool {
    acquire(kind, number, mode, true)
}

/// Releases a lock that was just taken. It stays locked if the transaction already held it.
pub fn unlock(kind: LockKind, number: u64, mode: Mode) {
    // SAFETY: the tag is complete. The current resource owner took the lock.
    unsafe {
        pg_sys::LockRelease(&tag(kind, number), mode.number(), false);
    }
}

/// Takes a session-level lock if it is available immediately.
pub fn try_lock_for_session(kind: LockKind, number: u64) -> bool {
    // SAFETY: the tag is complete. The lock is released at the end of the session.
    let outcome = unsafe { pg_sys::LockAcquire(&tag(kind, number), Mode::Exclusive.number(), true, true) };
    outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// Releases a session-level lock.
pub fn unlock_for_session(kind: LockKind, number: u64) {
    // SAFETY: the tag is complete. The session holds the lock.
    unsafe {
        pg_sys::LockRelease(&tag(kind, number), Mode::Exclusive.number(), true);
    }
}

fn acquire(kind: LockKind, number: u64, mode: Mode, no_wait: bool) -> bool {
    // SAFETY: the tag is complete. The lock is released at the end of the transaction.
    let outcome = unsafe { pg_sys::LockAcquire(&tag(kind, number), mode.number(), false, no_wait) };
    outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

fn tag(kind: LockKind, number: u64) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        // SAFETY: reads a session variable.
        locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
        locktag_field2: (number >> 32) as u32,
        locktag_field3: number as u32,
        locktag_field4: kind as u16,
        locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
        locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
    }
}

impl Mode {
    fn number(self) -> pg_sys::LOCKMODE {
        (match self {
            Mode::Shared => pg_sys::ShareLock,
            Mode::Exclusive => pg_sys::ExclusiveLock,
        }) as pg_sys::LOCKMODE
    }
}
