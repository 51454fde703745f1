//! Vectors and the embedding queue, with several workers and writers.

mod queue;
mod vectors;
