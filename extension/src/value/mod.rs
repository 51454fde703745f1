//! Values and their rules: pure, without PostgreSQL and without templates.

/// Texts and lists in a cell of a file.
pub mod cell_format;
/// The changes of a record's attributes.
pub mod change;
/// The order of texts.
pub mod collation;
/// Values that SQL compares columns with.
pub mod constant;
/// Patterns of dates and times.
pub mod date_pattern;
/// Numbers as PostgreSQL writes a numeric.
pub mod decimal;
/// The change of a record's vector.
pub mod embedding;
/// The formats of files.
pub mod file_format;
/// The rules of external keys.
pub mod key;
/// The options of a list attribute.
pub mod list_option;
/// Members of JSON objects in requests.
pub mod member;
/// Normal forms of Unicode.
pub mod normal_form;
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
/// The standard columns.
pub mod standard_column;
/// What the answer of a write is about.
pub mod subject;
/// Words that stand for each other.
pub mod synonym_set;
/// The names of tables.
pub mod table_name;
/// Dates and times in and out.
pub mod time;
/// The fault of a text that is not a date or not a time.
pub mod time_fault;
/// The rules of a vector.
pub mod vector;
/// Versions of keyed.
pub mod version;
/// The answer of a function that writes.
pub mod written;
/// Local times of a time zone.
pub mod zone;
