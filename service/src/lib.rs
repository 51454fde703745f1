//! What the parts of the program `keyed-proxy` share: the HTTP service, its workers and the command line.
//!
//! Each module imports only from those before it, which `layers` tests.

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

/// Workers: callers within the program.
pub mod worker;

#[cfg(test)]
mod layers;
