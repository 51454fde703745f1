//! What a moment within the calling statement saw.

use pgrx::pg_sys;

/// A moment within the calling statement.
#[derive(Clone, Copy, Debug)]
pub struct StatementMoment {
    command: pg_sys::CommandId,
}

impl StatementMoment {
    /// This moment. What the transaction has written so far counts as written before it.
    pub fn now() -> StatementMoment {
        // SAFETY: called between statements of a running transaction.
        unsafe {
            pg_sys::CommandCounterIncrement();
            StatementMoment { command: pg_sys::GetCurrentCommandId(false) }
        }
    }

    /// Runs `body`, for which the active snapshot shows what others had committed when the calling statement began, and
    /// what this transaction had written until this moment.
    pub fn seen_by<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: the calling statement has a snapshot. Its copy is ours alone, so that it can be changed before it is used;
        // it is taken away below, or by the end of the (sub)transaction when an error unwinds.
        unsafe {
            pg_sys::PushCopiedSnapshot(pg_sys::GetActiveSnapshot());
            (*pg_sys::GetActiveSnapshot()).curcid = self.command;
        }
        let result = body();
        // SAFETY: see above.
        unsafe { pg_sys::PopActiveSnapshot() };
        result
    }
}
