//! The current (sub)transaction, and callbacks for its end. State of an aborted one must not be used by another.

use super::{activity, worker};
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    /// The number of transactions of this session that have ended.
    static ENDED: Cell<u64> = const { Cell::new(0) };
}

/// A subtransaction of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub(super) transaction: u64,
    pub(super) subtransaction: u32,
}

/// The transaction or subtransaction that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The transaction.
    Transaction,
    /// A subtransaction that aborted, with its own subtransactions.
    Aborted(Moment),
    /// A subtransaction whose work now belongs to its parent.
    Committed {
        /// The subtransaction.
        moment: Moment,
        /// Its parent.
        parent: Moment,
    },
}

impl Moment {
    /// Whether work of this subtransaction can still commit. Open subtransactions have ascending ids, so one with a higher id
    /// than the current one has ended.
    pub fn may_still_commit(self, now: Moment) -> bool {
        self.transaction == now.transaction && self.subtransaction <= now.subtransaction
    }

    /// Whether both are within one transaction.
    pub fn is_same_transaction(self, other: Moment) -> bool {
        self.transaction == other.transaction
    }

    /// Whether this is an earlier subtransaction of the same transaction.
    pub(super) fn is_before(self, other: Moment) -> bool {
        self.transaction == other.transaction && self.subtransaction < other.subtransaction
    }
}

/// The callback for the end of a (sub)transaction. It must not raise errors.
static ON_END: OnceLock<fn(Ended)> = OnceLock::new();

/// Registers the callbacks; called once when the library is loaded.
pub fn register(on_end: fn(Ended)) {
    // The value is set once, because the library is loaded once.
    let _ = ON_END.set(on_end);
    // SAFETY: the callbacks live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::RegisterXactCallback(Some(on_transaction_event), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(on_subtransaction_event), std::ptr::null_mut());
    }
}

fn call(ended: Ended) {
    if let Some(on_end) = ON_END.get() {
        on_end(ended);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_subtransaction_event(
    event: pg_sys::SubXactEvent::Type,
    subtransaction: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _unused: *mut std::ffi::c_void,
) {
    use pg_sys::SubXactEvent::{SUBXACT_EVENT_ABORT_SUB, SUBXACT_EVENT_COMMIT_SUB};
    let moment = |subtransaction| Moment { transaction: ENDED.get(), subtransaction };
    match event {
        SUBXACT_EVENT_COMMIT_SUB => {
            call(Ended::Committed { moment: moment(subtransaction), parent: moment(parent) });
        }
        SUBXACT_EVENT_ABORT_SUB => call(Ended::Aborted(moment(subtransaction))),
        _ => {}
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_transaction_event(
    event: pg_sys::XactEvent::Type,
    _unused: *mut std::ffi::c_void,
) {
    use pg_sys::XactEvent::{XACT_EVENT_ABORT, XACT_EVENT_COMMIT, XACT_EVENT_PREPARE};
    if matches!(event, XACT_EVENT_ABORT | XACT_EVENT_COMMIT | XACT_EVENT_PREPARE) {
        ENDED.set(ENDED.get() + 1);
        call(Ended::Transaction);
        activity::transaction_ended();
        worker::transaction_ended(event == XACT_EVENT_COMMIT);
    }
}

/// The current subtransaction.
pub fn moment() -> Moment {
    // SAFETY: reads a variable of the session.
    Moment { transaction: ENDED.get(), subtransaction: unsafe { pg_sys::GetCurrentSubTransactionId() } }
}

/// The number of the transaction within the session.
pub fn number() -> u64 {
    ENDED.get()
}

/// The result of `now()`: the start of the transaction in microseconds since 2000-01-01T00:00:00Z.
pub fn began_at() -> i64 {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetCurrentTransactionStartTimestamp() }
}

/// Whether this transaction can write bookkeeping rows. A read-only transaction and a standby cannot write. Under a fixed
/// snapshot, a row that others have changed since would raise an error.
pub fn may_write() -> bool {
    // SAFETY: reads session variables.
    unsafe {
        !pg_sys::XactReadOnly
            && pg_sys::XactIsoLevel <= pg_sys::XACT_READ_COMMITTED as i32
            && !pg_sys::RecoveryInProgress()
            && !pg_sys::IsInParallelMode()
    }
}

/// Whether the current statement runs in parallel mode.
pub fn is_in_parallel() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::IsInParallelMode() }
}

/// Whether this process is a parallel worker.
pub fn is_parallel_worker() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// Begins the next command of the transaction. Catalog lookups then see its changes so far, and the session's caches are
/// invalidated.
pub fn begin_command() {
    // SAFETY: called between statements of a running transaction.
    unsafe { pg_sys::CommandCounterIncrement() };
}
