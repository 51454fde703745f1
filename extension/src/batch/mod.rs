//! Many operations in one call: parsed, put into an order in which concurrent batches cannot deadlock, run in groups, and
//! reported in the order of the request.

/// Runs a batch again without rejected operations.
mod attempts;
/// Keys that other transactions take while an atomic batch runs.
pub mod conflict;
/// Executes operations.
pub mod execute;
/// The SQL functions.
pub mod functions;
/// Many records of one template by one statement.
pub mod group;
/// One operation, and the mode of a batch.
pub mod operation;
/// The order in which operations run.
mod order;
/// JSON → operations.
pub mod parse;
/// Results → JSON.
pub mod report;
/// Runs operations in sequence.
mod sequence;
/// Runs one operation.
pub mod single;
/// The statement for many records.
pub mod statement;
/// Many operations in few subtransactions.
mod subtransactions;
/// A stored report without some of its errors.
pub mod withheld;
