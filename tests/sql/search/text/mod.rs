//! Searches by words.

mod common_words;
mod comparison;
mod index;
mod names;
mod sync;
mod words;
