//! Vectors and the queue of texts to embed, with several workers and writers.

mod queue;
mod vectors;
