//! The vectors of records, in a side table. `embedding/` has the SQL functions and the embedding queue,
//! `search/semantic/` searches vectors, and `value/vector.rs` parses one.

/// Keeps the embedding queue up to date.
pub mod queue;
/// The table of vectors.
pub mod table;
/// Writes vectors.
pub mod write;
