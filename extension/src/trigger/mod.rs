//! What happens around each write of a record, whoever writes: a function of ours or plain SQL.

/// The triggers that write it.
pub mod after_statement;
/// The trigger that keeps every rule, whoever writes.
pub mod before_row;
/// The SQL functions.
pub mod functions;
