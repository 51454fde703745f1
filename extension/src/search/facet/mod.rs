//! Facets: how many of the found records have each value of a field.

/// A field whose values are counted while rows are read.
pub mod counted_field;
/// Counts the values of fields.
pub mod counts;
/// Writes the values of facets.
mod values;
