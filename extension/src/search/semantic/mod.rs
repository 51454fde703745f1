//! Semantic search: the records whose vectors are closest to a given one.
//!
//! ```text
//! body ──query──▶ Query ──Plan, per template──▶ find (exact, or by the index) ──▶ merged ──run──▶ JSON
//! ```

/// Finds the closest records of one template.
pub mod find;
/// A search by a vector, with or without full-text terms.
pub mod hybrid;
/// The body of a semantic search.
pub mod query;
/// Templates → result.
pub mod run;
/// A vector search in one template: exact comparison or index.
pub mod strategy;
