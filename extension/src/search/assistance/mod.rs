//! Assistance for typing: synonyms, suggestions, typo tolerance, highlights.
//!
//! The contract:
//!
//! - **Words come from documents.** There is no term list: a word counts only if the document of a visible record contains
//!   it. Hidden records can affect the access path, but never a result.
//! - **Synonyms** ([`synonyms::expanded`]) add alternatives to the terms of a query before it is used, so pages, counts,
//!   facets and highlights need no special handling.
//! - **Typo tolerance** ([`typo_tolerance::correct`]) takes the terms of a search without results, and a function that
//!   repeats the search with corrections. It selects the corrections that find records. Corrections add alternatives to
//!   terms, and the cursors of later pages contain them ([`correction`]).
//! - **Suggestions** ([`suggestions::suggest`]) complete the last word of a text by the words of documents.
//! - **Highlights** ([`highlighter::highlighted`]) are additional members of records; they do not change the result.
//! - **The work is bounded.** A request reads at most the bytes of its [`budget`].
//!
//! The folder imports `text/` and nothing above it.

/// The bytes that a request may read.
pub mod budget;
/// Corrections of terms, in a query and in a cursor.
pub mod correction;
/// Folded strings with the offsets of the original.
pub mod folded;
/// Fragments of strings around their marks.
pub mod fragment;
/// The offsets at which terms match a string.
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
/// Collects words from documents.
pub mod vocabulary;
/// The words of a document.
pub mod word;
