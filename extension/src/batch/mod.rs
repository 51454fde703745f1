//! Many operations in one call: parsed, put into an order in which concurrent batches cannot deadlock, run in
//! groups, and reported in the order of the request.

/// Keys that other transactions take while an atomic batch runs.
pub mod conflict;
/// Orders operations by their references.
mod dependencies;
/// Executes operations.
pub mod execute;
/// Many operations in few subtransactions.
mod few;
/// The SQL functions.
pub mod functions;
/// Many records of one template by one statement.
pub mod group;
/// The modes of a batch.
pub mod mode;
/// One operation.
pub mod operation;
/// The order in which operations run.
pub mod order;
/// The outcome of an operation.
pub mod outcome;
/// JSON → operations.
pub mod parse;
/// Runs operations in sequence.
mod pass;
/// Results → JSON.
pub mod report;
/// Runs a batch again without refused operations.
mod rounds;
/// Runs operations one by one.
pub mod single;
/// The statement for many records.
pub mod statement;
/// A stored report without some of its errors.
pub mod withheld;
