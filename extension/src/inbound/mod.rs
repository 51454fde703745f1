//! Inbound endpoints: deliveries of other systems become records.
//!
//! ```text
//! request ──token──▶ endpoint ──signature──▶ log ──mapping (jsonpath)──▶ items ──batch──▶ records
//! ```
//!
//! A delivery is one transaction: its line in the log, which remembers its `webhook-id`, and what it writes stand or fall
//! together. What the mapping or the rules refuse is undone, and the delivery is kept with its error.

/// Endpoints are made and changed.
pub mod configure;
/// What an endpoint is made of, as a caller says it.
pub mod definition;
/// A delivery, from the request to its line in the log.
pub mod delivery;
/// What becomes of mappings when attributes change.
pub mod dependents;
/// Why a path finds nothing.
pub mod empty;
/// Endpoints, as they are stored and shown.
pub mod endpoint;
/// The SQL and HTTP functions.
pub mod functions;
/// The log of deliveries.
pub mod log;
/// How much the log may hold.
pub mod log_capacity;
/// Payload → keys and attributes.
pub mod mapping;
/// The steps of a path.
pub mod path;
/// Deliveries again, and mappings on trial.
pub mod replay;
/// Signatures of Standard Webhooks.
pub mod signature;
