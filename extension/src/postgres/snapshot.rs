//! The transaction's snapshot, and a snapshot as of an earlier command of the transaction.

use super::guard::as_owner;
use super::parameter::Parameter;
use super::spi::{Snapshot, connected};
use crate::error::{Code, Error};
use pgrx::pg_sys;

/// Whether all statements of this transaction use one snapshot (REPEATABLE READ and SERIALIZABLE).
pub fn is_fixed() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Returns the error for a name or key that another row already has. If the row is newer than this transaction's snapshot,
/// the error is a serialization failure, because a retry of the transaction sees the row. `row` is the query that finds
/// it.
pub fn newer_row_error(error: Error, row: &str, arguments: &[Parameter]) -> Error {
    let is_newer = is_fixed()
        && as_owner(|| {
            connected(|spi| {
                spi.run_once(row, Snapshot::Active, arguments).is_empty()
                    && !spi.run_newest(row, arguments).is_empty()
            })
        });
    if !is_newer {
        return error;
    }
    let message = format!("another transaction has committed since this one began: {}", error.message);
    Error::new(Code::SerializationFailure, message).hint("Run the transaction again.")
}

/// A point within the calling statement.
#[derive(Clone, Copy, Debug)]
pub struct CommandMark {
    command: pg_sys::CommandId,
}

impl CommandMark {
    /// The current point, after all writes of the transaction so far.
    pub fn now() -> CommandMark {
        // SAFETY: called between statements of a running transaction.
        unsafe {
            pg_sys::CommandCounterIncrement();
            CommandMark { command: pg_sys::GetCurrentCommandId(false) }
        }
    }

    /// Runs `body` with an active snapshot as of this point: commits of others before the calling statement, and this
    /// transaction's writes before this point.
    pub fn with_snapshot<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: the calling statement has a snapshot. The copy is not shared, so it can be changed before its first use. It
        // is popped below, or at the end of the (sub)transaction if an error unwinds.
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
