//! Searches find the records that their caller can read.

mod deleted;
mod fuzzy;
mod names;
mod semantic;
mod suggest;
mod synonyms;
