//! Full text: what is searched of each record, and the words a caller looks for.

/// Terms compared with documents in memory.
pub mod comparison;
/// What is searched of one record.
pub mod document;
/// Which records match a query, best first.
pub mod find;
/// Texts without case and accents.
pub mod fold;
/// Records whose name refers to what is looked for.
pub mod names;
/// What documents must hold for a term to match.
pub mod needle;
/// Keeping documents as the records are.
pub mod pending;
/// What a caller types into the search bar.
pub mod query;
/// All matches with their ranks.
pub mod rank;
/// Documents of many records.
pub mod rebuild;
/// How frequent terms are.
pub mod sample;
/// The stems of words.
pub mod stem;
/// The table of documents.
pub mod table;
/// Terms on their way into SQL.
pub mod terms;
/// Keys of the index of documents.
pub mod trigram;
/// Documents, written from rows.
pub mod write;
