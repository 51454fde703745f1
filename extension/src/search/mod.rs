//! Search: which records, in which order, page by page.
//!
//! ```text
//! body ──query──▶ Query ──plan (filter, sort, cursor)──▶ Plan ──run──▶ statements ──▶ JSON
//! ```
//!
//! Everything up to the plan is pure text. The plan is the one place where the caller's sight joins a statement: its
//! condition holds what the caller may see, and every statement of a search (page, count, facets) is made from it.

/// Where a page ended.
pub mod cursor;
/// How a search is done.
pub mod explain;
/// Values and how often they occur.
pub mod facet;
/// The SQL and HTTP functions.
pub mod functions;
/// By words, by vectors, or by both.
pub mod mode;
/// Keyset pages.
pub mod page;
/// The records of a page, written until it is full.
pub mod page_writer;
/// Query + template → parts of statements.
pub mod plan;
/// The body of a search.
pub mod query;
/// Pages of ranked matches.
pub mod ranked;
/// Statements → answer.
pub mod run;
/// The records closest in meaning.
pub mod semantic;
/// What records are sorted by.
pub mod sort;
/// Plan → the statement of a page.
pub mod statement;
/// Words in texts.
pub mod text;
/// The time zone of a search.
pub mod time_zone;
/// Which attributes searches use.
pub mod usage;
/// Searches for words.
pub mod words;
