//! Templates: the definition of a table.

/// Finds projects and templates.
pub mod catalog;
/// The types of columns.
mod column_type;
/// The definition of an attribute.
pub mod definition;
/// Describes templates without opening their tables.
pub mod describe;
/// Dependent objects of other owners that block a change.
pub mod in_use;
/// Reads existing indexes.
pub mod index;
/// Loads a template.
pub mod load;
/// The LRU cache of statements and conditions.
mod lru;
/// A template and its attributes.
mod model;
/// The display format of values.
pub mod presentation;
/// The schema of a template for filters.
pub mod schema;
/// The session's cache of projects and templates, and its invalidation.
mod session;
/// Template → JSON.
pub mod shape;
/// The shard of the database.
pub mod shard;
/// Statements that are cached with a template.
mod statements;
/// The synonyms of a template.
pub mod synonyms;

pub use crate::value::standard_column as column;
pub use model::{Attribute, SeriesTable, Template};
