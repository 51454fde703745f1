//! Full-text search: documents of records, and queries.

/// Compares terms with documents in memory.
pub mod comparison;
/// The format of a search document.
pub mod document;
/// Finds the records that match a query.
pub mod find;
/// The first matches in their order.
pub mod first;
/// Folds case and accents.
pub mod fold;
/// Keys of the index of documents.
pub mod keys;
/// Display terms of referenced records.
pub mod names;
/// Conditions on documents for a term.
pub mod needle;
/// Updates search documents.
pub mod pending;
/// The query language of global_search.
pub mod query;
/// Ranks matches by a statement.
pub mod rank;
/// Reads documents and ranks their records.
pub mod reader;
/// Rebuilds documents of many records.
pub mod rebuild;
/// Replaces indexes of earlier operator classes.
pub mod renewal;
/// Estimates the frequency of terms.
pub mod sample;
/// The stems of words.
pub mod stem;
/// The table of documents.
pub mod table;
/// Prepares terms for SQL.
pub mod terms;
/// Trigram keys.
pub mod trigram;
/// Strings that are not part of a longer word.
pub mod word_boundary;
/// Writes documents.
pub mod write;
