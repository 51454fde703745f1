//! Facets: the number of found records with each value of a field.

/// A field whose values are counted while rows are read.
pub mod counted_field;
/// Counts records and values in one pass over the table.
pub mod counts;
/// The values of a facet.
pub mod values;
