//! Batches that run at once.

mod batches;
mod conflict;
