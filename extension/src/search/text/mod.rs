//! Full-text search: documents of records, and queries.

/// Compares terms with documents in memory.
pub mod comparison;
/// Documents that triggers have made already.
pub mod composed;
/// The search document of a record.
pub mod document;
/// Finds the records that match a query.
pub mod find;
/// Folds case and accents.
pub mod fold;
/// Display names of referenced records.
pub mod names;
/// Conditions on documents for a term.
pub mod needle;
/// Keeps search documents up to date.
pub mod pending;
/// The query language of global_search.
pub mod query;
/// Ranks all matches.
pub mod rank;
/// Rebuilds documents of many records.
pub mod rebuild;
/// Estimates the frequency of terms.
pub mod sample;
/// The stems of words.
pub mod stem;
/// The table of documents.
pub mod table;
/// Prepares terms for SQL.
pub mod terms;
/// Keys of the index of documents.
pub mod trigram;
/// Writes documents.
pub mod write;
