//! The records of a page, by the access path that costs least.

/// Which access path finds the records of a page.
pub mod access_path;
/// Statements with their arguments.
pub mod bound_statement;
/// Tells the statements that find the records of a page.
mod explained;
/// Finds the records of a page.
pub mod find;
/// Plan → the statements of its access paths.
pub mod paths;
/// Pages of ranked matches.
pub mod ranked;
/// Conditions that a field has a value, which few records have.
pub mod rare_value;
/// The records that full-text terms select.
pub mod selection;
/// Records by a substring, in an order that no index has.
pub mod sorted_substrings;
/// Plan → the statement of a page.
pub mod statement;
/// Compares texts with a substring.
pub mod substring_comparison;
/// Patterns of substrings, compared in memory.
pub mod substring_pattern;
/// Records by a substring.
pub mod substring_rows;
/// The first of many items.
pub mod top_n;
/// Writes the records of a page.
pub mod writer;
