//! Vectors of records, and the queue of texts to embed.

mod claims;
mod queue;
mod sync;
mod vectors;
