//! `keyed-proxy`: the HTTP server of the `keyed` extension.
//!
//! It does not parse records. It authenticates the caller, passes the body on as text, and returns the database's
//! text. Each module imports only from those before it, which `layers` tests.

/// The log.
mod log;

/// Problem details.
mod problem;

/// Errors of the database as responses.
mod error;

/// Metrics.
mod metrics;

/// CORS.
mod cors;

/// Settings.
mod settings;

/// The end of the service.
mod shutdown;

/// TLS.
mod tls;

/// The HTTP client.
mod http_client;

/// Traces of requests.
mod traces;

/// Strict parsing of headers.
mod header;

/// Where a change comes from.
mod source;

/// Strict parsing of path and query string.
mod query;

/// How a request writes numbers.
mod numbers;

/// If-Match, If-None-Match and ETag.
mod conditional;

/// Content negotiation.
mod preference;

/// The threads that compress.
mod packing;

/// Compression of large responses.
mod compression;

/// Lingering close after a refusal.
mod lingering;

/// What is known of a request, for the access log and the metrics.
mod observation;

/// Added to every response: a request id, a problem body, a log entry for errors.
mod envelope;

/// Statements for the database: function calls and arguments.
mod statement;

/// Idempotent requests.
mod idempotency;

/// Admission: authentication and limits.
mod admission;

/// The caller of a request.
mod caller;

/// One statement per request.
mod database;

/// Readiness.
mod readiness;

/// Periodic maintenance.
mod housekeeping;

/// Embeddings.
mod embedding;

/// Shared state of the routes.
mod state;

/// Authentication of a request.
mod authentication;

/// Reads a JSON body without parsing it.
mod body;

/// A row of the database → an HTTP response.
mod answer;

/// A request that one statement answers, as most routes are.
mod call;

/// File formats: encodings, delimiters, rows.
mod file;

/// Import.
mod import;

/// The routes, one module per resource.
mod routes;

/// The OpenAPI document.
mod openapi;

/// The web application.
#[cfg(feature = "ui")]
mod application;

/// The list of routes.
mod router;

/// Sockets: accepting, keeping and closing connections.
mod server;

/// The listener of `/metrics`.
mod scrape;

/// What systemd is told.
mod service_manager;

/// The command line: its subcommands.
mod cli;

#[cfg(test)]
mod layers;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
