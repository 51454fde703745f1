//! Embeddings: vectors of records in a side table, for semantic search.
//!
//! A vector is written in the transaction of its record, with the same privileges. It is derived data, so it changes
//! neither `updated_at` nor the history.

/// The SQL and HTTP functions.
pub mod functions;
/// The queue of records that need a new vector.
pub mod queue;
