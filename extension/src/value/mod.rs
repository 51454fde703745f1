//! Values and their rules. Pure: independent of PostgreSQL and of templates.

/// Changes of attributes.
pub mod change;
/// Collations.
pub mod collation;
/// Constants of conditions.
pub mod constant;
/// Display patterns of dates and times.
pub mod date_pattern;
/// Numbers in the text form of `numeric`.
pub mod decimal;
/// File formats, and strings and lists in cells.
pub mod file_format;
/// External keys.
pub mod key;
/// Options of list attributes.
pub mod list_option;
/// Members of JSON objects in requests.
pub mod member;
/// Unicode normalization forms.
pub mod normal_form;
/// Operands of conditions.
pub mod operand;
/// Patterns of `like` and `ilike`.
pub mod pattern;
/// Quoting of literals and identifiers.
pub mod quote;
/// Record ids.
pub mod record_id;
/// Shards, and the ranges of their ids.
pub mod shard;
/// Names of projects, templates and attributes.
pub mod slug;
/// The standard columns.
pub mod standard_column;
/// Synonym sets.
pub mod synonym_set;
/// Table names.
pub mod table_name;
/// Parsing and writing of dates and times.
pub mod time;
/// Error messages for invalid dates and times.
pub mod time_error;
/// Vectors, and changes of a record's vector.
pub mod vector;
/// Versions of keyed.
pub mod version;
/// Results of functions that write.
pub mod written;
/// Local times in a time zone.
pub mod zone;
