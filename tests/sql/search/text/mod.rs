//! Searches by words.

mod common_words;
mod comparison;
mod documents;
mod index;
mod names;
mod sync;
mod words;
