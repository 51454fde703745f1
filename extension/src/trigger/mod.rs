//! The triggers of each write of a record, by keyed's functions or by direct SQL.

/// The trigger that enforces every rule.
pub mod before_row;
/// The SQL functions.
pub mod functions;
/// The triggers that note each changed row and write the history when the statement ends.
pub mod history;
