//! The body of a search, and its plan.

/// A parsed body.
pub mod body;
/// Page cursors.
pub mod cursor;
/// Fields whose values are counted.
pub mod facet;
/// The order of records as conditions that an index can serve.
pub mod keyset;
/// The mode of a search: words, vectors, or both.
pub mod mode;
/// Parses the body of a search.
pub mod parse;
/// Query + template → parts of statements.
pub mod plan;
/// The sort order.
pub mod sort;
/// The time zone of a search.
pub mod time_zone;
