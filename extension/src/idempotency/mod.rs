//! Idempotent requests: the transaction with the effect stores the response.
//!
//! Only committed responses are stored. A rejected request has no effect, so it runs again when it is repeated.

/// Limits the size of stored responses.
pub mod capacity;
/// The SQL functions.
pub mod functions;
/// The prepared statements.
mod plans;
/// Filters a stored response by the caller's current privileges.
pub mod replay;
/// The table of stored responses.
pub mod store;
