//! Concurrent batches.

mod batches;
mod conflict;
