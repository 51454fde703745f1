//! Embedding: the providers and the worker.

mod failures;
mod providers;
mod worker;
