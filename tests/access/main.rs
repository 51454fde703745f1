//! Who sees and may change what, through every entry point.

mod attacks;
mod batches;
mod changes;
mod clients;
mod differential;
mod direct;
mod embedding;
mod explain;
mod files;
mod grants;
mod inbound;
mod keys;
mod lint;
#[path = "../model/mod.rs"]
mod model;
mod names;
mod released_keys;
mod replays;
mod sales;
mod semantic;
mod sessions;
mod sight;
mod versions;
mod views;
mod writes;
