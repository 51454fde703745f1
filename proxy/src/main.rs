//! `keyed-proxy`: carries HTTP to the functions of the `keyed` extension.
//!
//! It knows nothing of records. It reads who asks, passes the body on as text, and sends the database's text back.
//! Each module imports only from those before it, as `layers` holds.

/// A refusal, and its body.
mod problem;

/// Errors of the database as answers.
mod error;

/// Where a database is.
mod database_url;

/// Pages in browsers.
mod cors;

/// What is set by flags and environment.
mod settings;

/// TLS towards whatever the program calls.
mod tls;

/// The HTTP client.
mod http_client;

/// Strict reading of headers.
mod header;

/// Strict reading of path and query string.
mod query;

/// If-Match, If-None-Match and ETag.
mod conditional;

/// What a caller would rather have.
mod preference;

/// Packing large answers.
mod compression;

/// Reading on after a refusal.
mod lingering;

/// What every answer gets: a request id, a problem's body, a line in the log.
mod envelope;

/// What is sent to the database: calls of functions, and their arguments.
mod statement;

/// Requests that are run once, however often they are sent.
mod idempotency;

/// Who is let in, and how much one caller may use.
mod admission;

/// Who is asking.
mod caller;

/// One statement per request.
mod database;

/// Whether the service can do its work.
mod readiness;

/// Periodic maintenance.
mod housekeeping;

/// Texts become vectors.
mod embedding;

/// What the routes share.
mod state;

/// Whether the caller is who it says.
mod authentication;

/// Strict reading of a JSON body, without parsing it.
mod body;

/// What a row of the database says as an HTTP response.
mod answer;

/// A request in the name of a caller that one statement answers: what most routes are.
mod call;

/// Files on their way in: encodings, delimiters, rows.
mod file;

/// Rows of a file → records.
mod import;

/// One module per noun of the interface.
mod routes;

/// The interface, described.
mod openapi;

/// The list of routes.
mod router;

/// Sockets: accepting, keeping and closing connections.
mod server;

/// The command line: its subcommands.
mod cli;

#[cfg(test)]
mod layers;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
