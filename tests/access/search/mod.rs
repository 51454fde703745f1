//! Searches find what their caller may see.

mod deleted;
mod fuzzy;
mod names;
mod semantic;
mod suggest;
mod synonyms;
