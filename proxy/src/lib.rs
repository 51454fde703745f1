//! The HTTP service of the `keyed` extension.
//!
//! It does not parse records. It authenticates the caller, passes the body to the database as text, and returns the
//! text of the response. Each module imports only from the modules above it, which `layers` tests.

/// The number of a shard.
pub mod shard;

/// Problem details.
pub mod problem;

/// Errors of the database as responses.
mod error;

/// Metrics.
pub mod metrics;

/// CORS.
mod cors;

/// Settings.
pub mod settings;

/// TLS of the listener.
pub mod listener_tls;

/// Traces of requests.
pub mod traces;

/// Strict parsing of headers.
mod header;

/// The position of a write, and the servers that may answer a read.
mod position;

/// The source of changes.
mod source;

/// Strict parsing of path and query string.
mod query;

/// The representation of numbers.
mod numbers;

/// If-Match, If-None-Match and ETag.
mod conditional;

/// Content negotiation.
mod preference;

/// The compression threads.
mod packing;

/// Compression of large responses.
mod compression;

/// Lingering close after an error.
mod lingering;

/// The observation of requests, for the access log, metrics and traces.
pub mod observation;

/// Middleware for all responses: the request id, the problem body, and a log entry for errors.
mod envelope;

/// Idempotent requests.
mod idempotency;

/// Admission: authentication and limits.
mod admission;

/// The caller of a request.
mod caller;

/// One statement per request.
pub mod database;

/// Readiness.
pub mod readiness;

/// Periodic maintenance.
pub mod housekeeping;

/// The vector of `query_text` in the body of a search.
mod query_text;

/// Callers that wait for changes.
mod changes;

/// Shared state of the routes.
pub mod state;

/// Authentication of a request.
mod authentication;

/// Reads a JSON body without parsing it.
mod body;

/// A row of the database → an HTTP response.
mod response;

/// A request that is served by one statement, as in most routes.
mod call;

/// File formats: encodings, delimiters, rows.
pub mod file;

/// Import.
pub mod import;

/// The routes, one module per resource.
mod routes;

/// The OpenAPI document.
pub mod openapi;

/// The web application.
#[cfg(feature = "ui")]
mod application;

/// The list of routes.
pub mod router;

/// The shards of the service.
pub mod shards;

/// Sockets: accepting, serving and closing connections.
pub mod server;

/// The listener of `/metrics`.
pub mod scrape;

#[cfg(test)]
mod layers;
