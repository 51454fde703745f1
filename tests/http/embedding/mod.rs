//! Texts become vectors: the providers and the worker.

mod faults;
mod providers;
mod worker;
