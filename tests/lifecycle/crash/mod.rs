//! The server, a backend, or the proxy is killed, or the primary of several servers fails. Acknowledged writes survive, complete and exactly once.

/// One request at a time, and what is known of its effect afterwards.
mod client;
/// The primary fails, and another server takes its place.
mod failover;
/// What was written and acknowledged, and what must be in the database for it.
mod ledger;
/// What a client writes.
mod load;
/// Kills under load, in rounds.
mod rounds;
/// The service that is killed.
mod service;
/// What holds in every database, whatever was written.
pub(crate) mod sound;
/// Upserts of one key.
mod upserts;
