//! The vectors of records, in a table beside the one of the records.

/// Keeping the queue as the records are.
pub mod queue;
/// The table of vectors.
pub mod table;
/// Vectors, written.
pub mod write;
