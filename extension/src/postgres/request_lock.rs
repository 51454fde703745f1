//! Locks that are about no table: who runs a request, who counts for a quota.
//!
//! They are advisory locks of a kind that the functions of SQL cannot take, so that nobody keeps us waiting on purpose.

use pgrx::pg_sys;

/// Which of the kinds of advisory locks: SQL takes 1 and 2.
#[derive(Clone, Copy)]
#[repr(u16)]
pub enum Kind {
    /// A request with an Idempotency-Key.
    Request = 3,
}

/// Takes a lock until the transaction ends, unless somebody else has it. Different numbers are different locks.
pub fn try_lock(kind: Kind, number: u64) -> bool {
    // SAFETY: the tag is complete; the lock is the transaction's, and released with it.
    unsafe {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::MyDatabaseId.to_u32(),
            locktag_field2: (number >> 32) as u32,
            locktag_field3: number as u32,
            locktag_field4: kind as u16,
            locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        };
        let mode = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        pg_sys::LockAcquire(&tag, mode, false, true) != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
    }
}
