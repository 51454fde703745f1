//! Semantic searches.

mod hybrid;
mod index;
mod query;
