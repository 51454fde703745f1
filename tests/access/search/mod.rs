//! Searches find what their caller may see.

mod names;
mod semantic;
