//! Rules as a caller of the HTTP interface meets them, against the real proxy.

mod authorization;
mod bad_input;
mod bad_queries;
mod batch;
mod batch_refusals;
mod by_key;
mod embedding_providers;
mod embedding_worker;
mod embeddings;
mod errors;
mod external_key;
mod history;
mod idempotency;
mod import;
mod inbound;
mod metrics;
mod projects;
mod records;
mod search;
mod search_refusals;
mod semantic;
mod service;
mod shared;
mod templates;
mod values;
mod views;
