//! Embeddings: a vector for the meaning of each record, in a side table.
//!
//! A vector is written in the transaction of its record, with the same privileges. It is derived data, so it changes
//! neither `updated_at` nor the history.

/// The SQL and HTTP functions.
pub mod functions;
/// Which records need another vector.
pub mod queue;
