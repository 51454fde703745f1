//! The present (sub)transaction, so that notes of a failed one are not used by another.

use super::{activity, worker};
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;

thread_local! {
    /// How many transactions of this session have ended.
    static ENDED: Cell<u64> = const { Cell::new(0) };
}

/// A subtransaction of a transaction of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    transaction: u64,
    subtransaction: u32,
}

impl Moment {
    /// Whether what was noted at this moment can still become part of the transaction, seen from `now`: the
    /// subtransactions in progress have ascending numbers, so a higher one than the current has ended.
    pub fn may_still_commit(self, now: Moment) -> bool {
        self.transaction == now.transaction && self.subtransaction <= now.subtransaction
    }
}

/// Registers the callback; called once when the library is loaded.
pub fn register() {
    // SAFETY: the callback lives as long as the library, which is never unloaded.
    unsafe { pg_sys::RegisterXactCallback(Some(count_end), std::ptr::null_mut()) };
}

#[pg_guard]
unsafe extern "C-unwind" fn count_end(event: pg_sys::XactEvent::Type, _unused: *mut std::ffi::c_void) {
    use pg_sys::XactEvent::{XACT_EVENT_ABORT, XACT_EVENT_COMMIT, XACT_EVENT_PREPARE};
    if matches!(event, XACT_EVENT_ABORT | XACT_EVENT_COMMIT | XACT_EVENT_PREPARE) {
        ENDED.set(ENDED.get() + 1);
        activity::transaction_ended();
        worker::transaction_ended(event == XACT_EVENT_COMMIT);
    }
}

/// Where the session is now.
pub fn moment() -> Moment {
    // SAFETY: reads a variable of the session.
    Moment { transaction: ENDED.get(), subtransaction: unsafe { pg_sys::GetCurrentSubTransactionId() } }
}

/// The number of the transaction within the session.
pub fn number() -> u64 {
    ENDED.get()
}

/// When the transaction began, as `now()` says it: microseconds since 2000-01-01T00:00:00Z.
pub fn began_at() -> i64 {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetCurrentTransactionStartTimestamp() }
}

/// Whether this transaction may write notes on the side: not when it is read-only, never on a standby, and not where its
/// snapshot is fixed, for there a row that others have changed since is an error.
pub fn may_write() -> bool {
    // SAFETY: reads variables of the session.
    unsafe {
        !pg_sys::XactReadOnly
            && pg_sys::XactIsoLevel <= pg_sys::XACT_READ_COMMITTED as i32
            && !pg_sys::RecoveryInProgress()
            && !pg_sys::IsInParallelMode()
    }
}

/// Whether the present statement runs in parallel.
pub fn is_in_parallel() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::IsInParallelMode() }
}

/// Begins the next command of the transaction: what it changed so far is known to look-ups of the catalog, and other
/// caches of this session hear of it.
pub fn begin_command() {
    // SAFETY: called between statements of a running transaction.
    unsafe { pg_sys::CommandCounterIncrement() };
}
