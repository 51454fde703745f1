//! Searches: pages, cursors, counts, and the indexes that they use.

mod access_paths;
mod collation;
mod compared;
mod counts;
mod cursor_values;
mod cursors;
mod deleted;
mod explain;
mod fuzzy;
mod indexes;
mod long_text;
mod pages;
mod pagination;
mod privileges;
mod rare_values;
mod semantic;
mod substrings;
mod suggest;
mod text;
