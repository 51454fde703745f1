//! The present (sub)transaction, so that notes of a failed one are not used by another.

use super::{activity, worker};
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    /// How many transactions of this session have ended.
    static ENDED: Cell<u64> = const { Cell::new(0) };
}

/// A subtransaction of a transaction of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub(super) transaction: u64,
    pub(super) subtransaction: u32,
}

/// What has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The transaction.
    Transaction,
    /// A subtransaction, which is undone with all that began in it.
    Failed(Moment),
    /// A subtransaction whose work is now that of the one around it.
    Committed {
        /// The one that has ended.
        moment: Moment,
        /// The one around it.
        around: Moment,
    },
}

impl Moment {
    /// Whether what was noted at this moment can still become part of the transaction, seen from `now`: the
    /// subtransactions in progress have ascending numbers, so a higher one than the current has ended.
    pub fn may_still_commit(self, now: Moment) -> bool {
        self.transaction == now.transaction && self.subtransaction <= now.subtransaction
    }

    /// Whether it is in a subtransaction of this transaction that began earlier.
    pub(super) fn is_before(self, other: Moment) -> bool {
        self.transaction == other.transaction && self.subtransaction < other.subtransaction
    }
}

/// What is called when something ends; it must not fail.
static ON_END: OnceLock<fn(Ended)> = OnceLock::new();

/// Registers the callbacks; called once when the library is loaded.
pub fn register(on_end: fn(Ended)) {
    // The library is loaded once.
    let _ = ON_END.set(on_end);
    // SAFETY: the callbacks live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::RegisterXactCallback(Some(count_end), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(note_end), std::ptr::null_mut());
    }
}

fn tell(ended: Ended) {
    if let Some(on_end) = ON_END.get() {
        on_end(ended);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn note_end(
    event: pg_sys::SubXactEvent::Type,
    subtransaction: pg_sys::SubTransactionId,
    around: pg_sys::SubTransactionId,
    _unused: *mut std::ffi::c_void,
) {
    use pg_sys::SubXactEvent::{SUBXACT_EVENT_ABORT_SUB, SUBXACT_EVENT_COMMIT_SUB};
    let moment = |subtransaction| Moment { transaction: ENDED.get(), subtransaction };
    match event {
        SUBXACT_EVENT_COMMIT_SUB => {
            tell(Ended::Committed { moment: moment(subtransaction), around: moment(around) });
        }
        SUBXACT_EVENT_ABORT_SUB => tell(Ended::Failed(moment(subtransaction))),
        _ => {}
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn count_end(event: pg_sys::XactEvent::Type, _unused: *mut std::ffi::c_void) {
    use pg_sys::XactEvent::{XACT_EVENT_ABORT, XACT_EVENT_COMMIT, XACT_EVENT_PREPARE};
    if matches!(event, XACT_EVENT_ABORT | XACT_EVENT_COMMIT | XACT_EVENT_PREPARE) {
        ENDED.set(ENDED.get() + 1);
        tell(Ended::Transaction);
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

/// Whether this session is a worker of another's parallel plan.
pub fn is_parallel_worker() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// Begins the next command of the transaction: what it changed so far is known to look-ups of the catalog, and other
/// caches of this session hear of it.
pub fn begin_command() {
    // SAFETY: called between statements of a running transaction.
    unsafe { pg_sys::CommandCounterIncrement() };
}
