//! Code that the HTTP service, its workers and the command line of `keyed-proxy` share.
//!
//! Each module imports only from the modules above it, which `layers` tests.

/// Values of settings: numbers, sizes, times and secrets.
pub mod value;

/// The log.
pub mod log;

/// The steps of shutdown.
pub mod shutdown;

/// The database URL.
pub mod database_url;

/// TLS.
pub mod tls;

/// The HTTP client.
pub mod http_client;

/// Statements for the database: function calls and arguments.
pub mod statement;

/// Workers.
pub mod worker;

#[cfg(test)]
mod layers;
