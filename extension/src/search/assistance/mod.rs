//! Assistance for typing: synonyms, suggestions, typo tolerance, highlights.
//!
//! The contract:
//!
//! - **Words come from documents.** There is no term list: a word counts only if the document of a record has it that is visible to
//!   the caller. Hidden records decide at most on the path to the documents, never on a result.
//! - **Synonyms** ([`synonyms::expanded`]) add alternatives to the terms of a query before anything else reads it, so pages, counts,
//!   facets and highlights need no rule of their own.
//! - **Typo tolerance** ([`typo_tolerance::correct`]) gets the terms of a search that found nothing and a function that repeats the
//!   search with corrections. It decides by the records found. Corrections add alternatives to terms, and later pages have them in
//!   the cursor ([`correction`]).
//! - **Suggestions** ([`suggestions::suggest`]) complete the last word of a text by the words of documents.
//! - **Highlights** ([`highlighter::highlighted`]) are an addition to the projection of records; they change no result.
//! - **The work is bounded.** A request reads at most the bytes of its [`budget`].
//!
//! The folder imports `text/` and nothing above it.

/// The bytes that a request may read.
pub mod budget;
/// Corrections of terms, in a query and in a cursor.
pub mod correction;
/// Folded texts with the offsets of the original.
pub mod folded;
/// Fragments of texts around their marks.
pub mod fragment;
/// The offsets at which terms match a text.
pub mod highlight;
/// Adds highlights to records.
pub mod highlighter;
/// The most frequent spelling of a word.
pub mod spelling;
/// Completions of a typed text.
pub mod suggestions;
/// Synonyms of terms.
pub mod synonyms;
/// Corrects terms with a typo.
pub mod typo_tolerance;
/// Reads words out of documents.
pub mod vocabulary;
/// The words of a document.
pub mod word;
