//! `keyed-proxy`: carries HTTP to the functions of the `keyed` extension.
//!
//! It knows nothing of records. It reads who asks, passes the body on as text, and sends the database's text back.
//! The modules stand in the order a request meets them.

/// The command line: its subcommands.
mod cli;

/// What is set by flags and environment.
mod settings;

/// Where a database is.
mod database_url;

/// The interface, described.
mod openapi;

/// Sockets: accepting, keeping and closing connections.
mod server;

/// The list of routes.
mod router;

/// What the routes share.
mod state;

/// Whether the service can do its work.
mod readiness;

/// What every answer gets: a request id, a problem's body, a line in the log.
mod envelope;

/// Pages in browsers.
mod cors;

/// Reading on after a refusal.
mod lingering;

/// Packing large answers.
mod compression;

/// What a caller would rather have.
mod preference;

/// Who is let in, and how much one caller may use.
mod admission;

/// Who is asking.
mod caller;

/// A request in the name of a caller that one statement answers: what most routes are.
mod call;

/// Requests that are run once, however often they are sent.
mod idempotency;

/// If-Match, If-None-Match and ETag.
mod conditional;

/// Strict reading of path and query string.
mod query;

/// Strict reading of a JSON body, without parsing it.
mod body;

/// Files on their way in: encodings, delimiters, rows.
mod file;

/// Rows of a file → records.
mod import;

/// One module per noun of the interface.
mod routes;

/// One statement per request.
mod database;

/// What is done now and then, whoever asks.
mod housekeeping;

/// Why the database gave no row, and what is told of it.
mod failure;

/// Several statements in one transaction.
mod transaction;

/// Connections that many short reads use at once.
mod shared;

/// What becomes of a connection whose caller left.
mod lease;

/// Which connections may still be used.
mod trust;

/// TLS towards PostgreSQL.
mod tls;

/// Texts become vectors.
mod embedding;

/// What a row of the database says as an HTTP response.
mod answer;

/// Which error of the database is which answer: the one table.
mod error;

/// The body of a refusal.
mod problem;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
