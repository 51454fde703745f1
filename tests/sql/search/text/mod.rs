//! Searches by words.

mod common_words;
mod comparison;
mod documents;
mod index;
mod locales;
mod names;
mod ranks;
mod sync;
mod words;
