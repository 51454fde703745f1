//! The body of a search, and its plan.

/// The parsed body.
pub mod body;
/// Page cursors.
pub mod cursor;
/// Fields whose values are counted.
pub mod facet;
/// Keyset pagination with indexable conditions.
pub mod keyset;
/// Body + template → parts of statements.
pub mod plan;
/// Reads and plans a request.
pub mod request;
/// The sort order.
pub mod sort;
/// The time zone of a search.
pub mod time_zone;
/// Counts the attributes that searches use.
pub mod usage;
