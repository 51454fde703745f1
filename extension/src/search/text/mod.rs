//! Full-text search: documents of records, and queries.

/// What a record may be called that a query asks for.
pub mod called;
/// Compares terms with documents in memory.
pub mod comparison;
/// Documents that triggers have made already.
pub mod composed;
/// The search document of a record.
pub mod document;
/// Finds the records that match a query.
pub mod find;
/// The first matches in their order.
pub mod first;
/// Folds case and accents.
pub mod fold;
/// Keys of the index of documents.
pub mod keys;
/// What the index is asked for.
pub mod lookup;
/// The marks between the parts of a document.
pub mod mark;
/// Display names of referenced records.
pub mod names;
/// Conditions on documents for a term.
pub mod needle;
/// Keeps search documents up to date.
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
/// Scripts without spaces between words.
pub mod spaceless;
/// The stems of words.
pub mod stem;
/// The table of documents.
pub mod table;
/// Prepares terms for SQL.
pub mod terms;
/// Keys of its earlier form.
pub mod trigram;
/// The whole of a name or a key.
pub mod whole;
/// Texts that are no part of longer words.
pub mod word_boundary;
/// Writes documents.
pub mod write;
