//! What happened to a record: one row for each change, written by triggers in the same transaction.

/// Pages of a record's history.
pub mod read;
/// The triggers that write it.
pub mod write;
