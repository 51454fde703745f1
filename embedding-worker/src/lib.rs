//! Embeddings: providers turn texts into vectors, and the worker stores those of records.
//!
//! Each module imports only from the modules above it, which `layers` tests.

/// Settings.
pub mod settings;

/// Valid vectors.
pub mod vector;

/// The outcomes of texts.
pub mod outcome;

/// A bag of words, for demos and tests.
mod hash;

/// The response of an embedding server.
mod response;

/// Finds the invalid texts of a failed request.
mod isolation;

/// A server with OpenAI's API.
mod openai;

/// Texts → vectors.
pub mod embedder;

/// The embedding worker.
pub mod worker;

#[cfg(test)]
mod layers;
