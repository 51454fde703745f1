//! The server, a backend, or the proxy is killed, or the primary of several servers fails. Acknowledged writes survive, complete and exactly once.

/// A single request, and the knowledge of its effect afterwards.
mod client;
/// The primary fails, and another server is promoted.
mod failover;
/// Invariants of every database.
pub(crate) mod invariants;
/// The written and acknowledged changes, and the database contents that they require.
mod ledger;
/// The writes of a client.
mod load;
/// Kills under load, in rounds.
mod rounds;
/// The service under test.
mod service;
/// Upserts of one key.
mod upserts;
