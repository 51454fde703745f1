//! Rules that a user of SQL relies on.

mod access;
mod administration;
mod batch;
mod change;
mod define;
mod embedding;
mod export;
mod filter;
mod gallery;
mod growth;
mod hostile_input;
mod import;
mod inbound;
mod job;
mod json;
mod limits;
mod metric;
#[path = "../model/mod.rs"]
mod model;
mod quota;
mod record;
mod search;
mod statistics;
mod template;
mod trigger;
mod value;
mod view;
mod webhook;
