//! Assistance for typing: synonyms, suggestions, typo tolerance, highlights.

/// How much of documents a request reads for words.
pub mod budget;
/// Words in place of those that were not found.
pub mod correction;
/// Folded texts with the places of the original.
pub mod folded;
/// Fragments around what was found.
pub mod fragment;
/// Where the terms of a query stand in a text.
pub mod highlight;
/// Adds highlights to records.
pub mod highlighter;
/// How a word is written.
pub mod spelling;
/// Completions of what is typed.
pub mod suggestions;
/// What stands for the words of a query.
pub mod synonyms;
/// Finds the words that were meant.
pub mod typo_tolerance;
/// Reads words out of documents.
pub mod vocabulary;
/// The words of a document.
pub mod word;
