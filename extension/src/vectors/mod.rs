//! The vectors of records, in a side table.

/// Keeps the embedding queue up to date.
pub mod queue;
/// The table of vectors.
pub mod table;
/// Writes vectors.
pub mod write;
