//! The responses of each route.

mod administration;
mod administration_lists;
mod background;
mod batch;
mod batch_errors;
mod batch_versions;
mod by_key;
mod changes;
mod embeddings;
mod entities;
pub(crate) mod export;
mod export_formats;
mod external_key;
mod history;
pub(crate) mod inbound;
mod inbound_payloads;
mod metrics;
mod numbers;
mod search;
mod search_errors;
mod semantic;
mod templates;
mod values;
mod views;
