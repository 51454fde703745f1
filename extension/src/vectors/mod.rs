//! The vectors of records, in a side table. `embedding/` has the SQL functions and the queue of texts, `search/semantic/`
//! searches vectors, and `value/vector.rs` reads one.

/// Keeps the embedding queue up to date.
pub mod queue;
/// The table of vectors.
pub mod table;
/// Writes vectors.
pub mod write;
