//! Values and the rules that hold for them: pure, without PostgreSQL and without templates.

/// Texts and lists in a cell of a file.
pub mod cell_format;
/// What a request does to the attributes of a record.
pub mod change;
/// Values that SQL compares columns with.
pub mod constant;
/// What a request says about a record's vector.
pub mod embedding;
/// The external key's own rules.
pub mod key;
/// The values that a list attribute offers.
pub mod list_option;
/// Members of JSON objects that a caller sends.
pub mod member;
/// Single values of conditions.
pub mod operand;
/// Patterns of like and ilike.
pub mod pattern;
/// Texts and names as parts of statements.
pub mod quote;
/// Ids that carry their template's number.
pub mod record_id;
/// Names of projects, templates and attributes.
pub mod slug;
/// The columns that every table of ours begins with.
pub mod standard_column;
/// The names of tables.
pub mod table_name;
/// Dates and times in and out.
pub mod time;
/// The rules of a vector.
pub mod vector;
