//! Visibility and privileges of each role, through every entry point.

mod administration;
mod attacks;
mod batch;
mod changes;
mod clients;
mod define;
mod differential;
mod embedding;
mod explain;
mod files;
mod grants;
mod idempotency;
mod inbound;
mod lint;
#[path = "../model/mod.rs"]
mod model;
mod postgres;
mod record;
mod sales;
mod search;
mod sessions;
mod view;
mod visibility;
