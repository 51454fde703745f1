//! Vectors of records, and the queue of text to embed.

mod claims;
mod queue;
mod sync;
mod vectors;
