//! Saved views.

mod dependents;
mod saved;
