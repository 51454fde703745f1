//! Webhooks out: the worker that delivers changes of records to webhook endpoints.
//!
//! Each module imports only from the modules above it, which `layers` tests.

/// Networks to which webhooks are not delivered.
pub mod address;

/// Settings.
pub mod settings;

/// The parts of a URL.
mod target;

/// Signatures of Standard Webhooks.
mod signature;

/// Connections to receivers.
mod connection;

/// One attempt at a delivery.
mod attempt;

/// The worker.
pub mod worker;

#[cfg(test)]
mod layers;
