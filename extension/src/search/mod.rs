//! Search: which records, in which order, page by page.
//!
//! ```text
//! body ──query/──▶ Plan ──page/, facet/, semantic/──▶ statements, indexes ──run──▶ JSON
//! ```
//!
//! Everything up to the plan is pure text. Only the plan adds the caller's scopes: its condition includes what the
//! caller may see, and every statement of a search (page, count, facets) uses it.
//!
//! Whatever a caller sends reaches SQL as a parameter or through `value/quote.rs`.
//!
//! The folders, each of which imports only from those before it: `text/` (search documents, terms, matches), `assistance/`
//! (synonyms, suggestions, typo tolerance, highlights), `query/` (the body and the plan), `page/` (access paths), `facet/`,
//! `semantic/`.

/// Assistance for typing.
pub mod assistance;
/// Explains a search.
pub mod explain;
/// Explains how words are searched.
pub mod explain_words;
/// Values of fields with their numbers of records.
pub mod facet;
/// The SQL and HTTP functions.
pub mod functions;
/// Access paths to the records of a page.
pub mod page;
/// The body of a search, and its plan.
pub mod query;
/// Statements → answer.
pub mod run;
/// Semantic search.
pub mod semantic;
/// Full-text search.
pub mod text;
/// Counts the attributes that searches use.
pub mod usage;
