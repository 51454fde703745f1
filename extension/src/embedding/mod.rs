//! Embeddings: a vector for each record that says what the record means, in a table beside the template's.
//!
//! A vector is written in the transaction of its record and under the same rights. It is derived from what the record
//! says, so it changes neither `updated_at` nor the history.

/// The SQL and HTTP functions.
pub mod functions;
/// Which records need another vector.
pub mod queue;
