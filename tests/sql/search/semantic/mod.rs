//! Searches by meaning.

mod hybrid;
mod index;
mod query;
