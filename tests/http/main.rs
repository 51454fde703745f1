//! Rules that a caller of the HTTP interface relies on, against the real proxy.

mod access_log;
mod admission;
mod body;
mod caller;
mod changes;
mod conditional;
mod database;
mod embedding;
mod error;
mod header;
mod idempotency;
mod import;
mod metrics;
mod query;
mod reload;
mod routes;
mod service;
mod service_manager;
mod shards;
mod shutdown;
mod tls;
mod traces;
mod webhooks;
