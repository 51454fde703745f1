//! Search: which records, in which order, page by page.
//!
//! ```text
//! body ──query──▶ Query ──plan (filter, sort, cursor)──▶ Plan ──run──▶ statements ──▶ JSON
//! ```
//!
//! Everything up to the plan is pure text. Only the plan adds the caller's scopes: its condition includes what the
//! caller may see, and every statement of a search (page, count, facets) uses it.
//!
//! Whatever a caller sends reaches SQL as a parameter or through `value/quote.rs`.

/// Which access path finds the records of a page.
pub mod access_path;
/// Statements with their arguments.
pub mod bound_statement;
/// Words in place of those that were not found.
pub mod correction;
/// Fields whose values are counted.
pub mod counted_field;
/// Page cursors.
pub mod cursor;
/// Explains a search.
pub mod explain;
/// Explains how words are searched.
pub mod explain_words;
/// Facets.
pub mod facet;
/// Writes the values of facets.
mod facet_writer;
/// The first of many items.
pub mod first_items;
/// The SQL and HTTP functions.
pub mod functions;
/// Finds the words that were meant.
pub mod fuzzy;
/// The mode of a search: words, vectors, or both.
pub mod mode;
/// Keyset pages.
pub mod page;
/// Finds the records of a page.
pub mod page_rows;
/// Tells the statements that find the records of a page.
mod page_statements;
/// Writes the records of a page.
pub mod page_writer;
/// Parses the body of a search.
pub mod parse;
/// Compares texts with a part.
pub mod part_comparison;
/// Records by a part of a text.
pub mod part_rows;
/// Plan → the statements of its access paths.
pub mod path_statement;
/// Query + template → parts of statements.
pub mod plan;
/// A parsed search.
pub mod query;
/// Pages of ranked matches.
pub mod ranked;
/// Conditions that a field has a value, which few records have.
pub mod rare_value;
/// Statements → answer.
pub mod run;
/// Semantic search.
pub mod semantic;
/// The sort order.
pub mod sort;
/// Records by a part of a text, in an order that no index has.
pub mod sorted_parts;
/// Plan → the statement of a page.
pub mod statement;
/// Completions of what is typed.
pub mod suggest;
/// Full-text search.
pub mod text;
/// Patterns of texts, compared in memory.
pub mod text_pattern;
/// The time zone of a search.
pub mod time_zone;
/// Counts the attributes that searches use.
pub mod usage;
/// Counts the values of fields.
pub mod value_counts;
/// Searches for words.
pub mod words;
