//! The triggers of each write of a record, by keyed's functions or by direct SQL.

/// The triggers that write it.
pub mod after_statement;
/// The trigger that enforces every rule.
pub mod before_row;
/// The SQL functions.
pub mod functions;
