//! Full-text searches.

mod common_words;
mod comparison;
mod documents;
mod highlight;
mod index;
mod locales;
mod names;
mod ranks;
mod relevance;
mod results;
mod scripts;
mod sync;
mod synonym_meaning;
mod synonym_model;
mod synonyms;
mod value_counts;
pub(crate) mod words;
mod write;
