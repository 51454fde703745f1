//! Advisory locks, for requests, quotas, setup, jobs and examinations.
//!
//! Their lock tags cannot be taken with PostgreSQL's SQL functions, so no session can block them on purpose.

use pgrx::pg_sys;

/// Which of the kinds of advisory locks: SQL takes 1 and 2. The view `keyed.stat_activity` has a word for each.
#[derive(Clone, Copy)]
#[repr(u16)]
pub enum LockKind {
    /// A request with an Idempotency-Key.
    Request = 3,
    /// A quota of a project.
    Quota = 4,
    /// The state of the database, while it is set up or moved forward.
    Setup = 5,
    /// A template into which a file is imported as a whole.
    Import = 6,
    /// The work on jobs: numbers 0 and -1 are had by the workers ([`crate::job`]), any other is the job that one is at.
    Job = 7,
    /// Definitions of a project.
    Definition = 8,
    /// Privileges of PostgreSQL in a project.
    Privileges = 9,
    /// An examination of the database.
    Examination = 10,
    /// Who imports a file as a whole, and since when: for those who wait for it.
    Importer = 11,
}

/// Who else may have the lock.
#[derive(Clone, Copy)]
pub enum Mode {
    /// Others who share it.
    Shared,
    /// No other.
    Exclusive,
}

/// Takes a lock until the (sub)transaction ends, waiting for it. Different numbers are different locks.
pub fn lock(kind: LockKind, number: u64, mode: Mode) {
    acquire(kind, number, mode, false);
}

/// Takes a lock, unless it would have to be waited for.
pub fn try_lock(kind: LockKind, number: u64, mode: Mode) -> bool {
    acquire(kind, number, mode, true)
}

/// Gives back a lock that was just taken, unless it was had before as well.
pub fn unlock(kind: LockKind, number: u64, mode: Mode) {
    // SAFETY: the tag is complete; the lock is held, by the same owner of resources that took it.
    unsafe {
        pg_sys::LockRelease(&tag(kind, number), mode.number(), false);
    }
}

/// Takes a lock until it is given back or the session ends, unless it would have to be waited for.
pub fn try_lock_for_session(kind: LockKind, number: u64) -> bool {
    // SAFETY: the tag is complete; the lock is the session's, and released with it.
    let outcome = unsafe { pg_sys::LockAcquire(&tag(kind, number), Mode::Exclusive.number(), true, true) };
    outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// Gives back a lock of the session.
pub fn unlock_for_session(kind: LockKind, number: u64) {
    // SAFETY: the tag is complete; the session holds the lock.
    unsafe {
        pg_sys::LockRelease(&tag(kind, number), Mode::Exclusive.number(), true);
    }
}

fn acquire(kind: LockKind, number: u64, mode: Mode, at_once: bool) -> bool {
    // SAFETY: the tag is complete; the lock is the transaction's, and released with it.
    let outcome = unsafe { pg_sys::LockAcquire(&tag(kind, number), mode.number(), false, at_once) };
    outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

fn tag(kind: LockKind, number: u64) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        // SAFETY: reads a variable of the session.
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
