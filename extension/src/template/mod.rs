//! Templates: the definition of a table.

/// The session's cache of templates.
pub mod catalog;
/// The types of columns.
mod column_type;
/// The definition of an attribute.
pub mod definition;
/// Describes templates without opening their tables.
pub mod describe;
/// Dependent objects of others that block a change.
pub mod in_use;
/// Existing indexes.
pub mod index;
/// Cached statements and conditions.
mod kept;
/// A template read from the state.
pub mod load;
/// A template and its attributes.
mod model;
/// How values are shown.
pub mod presentation;
/// The schema of a template for filters.
pub mod schema;
/// The cache and its invalidation.
mod session;
/// Template → JSON.
pub mod shape;
/// Statements that are cached with a template.
mod statements;
/// The synonyms of a template.
pub mod synonyms;

pub use crate::value::standard_column as column;
pub use model::{Attribute, SeriesTable, Template};
