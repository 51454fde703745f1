//! Saved views.

mod dependents;
mod presentation;
mod saved;
