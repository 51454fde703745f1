//! Rows that are newer than the snapshot of a transaction.

use super::guard::as_owner;
use super::parameter::Parameter;
use super::snapshot_is_fixed;
use super::spi::{Snapshot, connected};
use crate::error::{Code, Error};

/// The error of a name or key that a row has already. If this transaction has a fixed snapshot, which does not show that row,
/// the error is a serialization failure: the next try of the transaction sees the row. `row` is the query that finds it.
pub fn taken(error: Error, row: &str, arguments: &[Parameter]) -> Error {
    let is_newer = snapshot_is_fixed()
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
