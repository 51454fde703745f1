//! Searches find what their caller may see.

mod deleted;
mod names;
mod semantic;
