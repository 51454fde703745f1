//! Semantic search: the records whose vectors are closest to one that is asked for.
//!
//! ```text
//! body ──query──▶ Query ──Plan, per template──▶ find (exact, or by the index) ──▶ merged ──run──▶ JSON
//! ```

/// The records of one template that are closest, as far as the caller sees them.
pub mod find;
/// A search by a vector, with words or without.
pub mod hybrid;
/// The body of a semantic search.
pub mod query;
/// Templates → answer.
pub mod run;
/// By comparing, or by the index.
pub mod strategy;
