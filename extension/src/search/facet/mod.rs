//! Facets: how many of the found records have each value of a field.

/// A field whose values are counted while rows are read.
pub mod counted_field;
/// Counts records and values in one pass over the table.
pub mod counts;
/// The values of a facet.
pub mod values;
