//! The triggers on the tables of records, which fire for keyed's functions and for direct SQL.

/// The trigger that enforces every rule.
pub mod before_row;
/// The SQL functions.
pub mod functions;
/// The triggers that write the history.
pub mod history;
