//! Inbound endpoints: write records from deliveries of other systems.
//!
//! ```text
//! request ──token──▶ endpoint ──signature──▶ log ──mapping (jsonpath)──▶ items ──batch──▶ records
//! ```
//!
//! A delivery is one transaction: its log entry with the `webhook-id`, and its records. If the mapping or a rule
//! fails, the records are rolled back, and the delivery is stored with its error.

/// Creates and changes endpoints.
pub mod configure;
/// The definition of an endpoint.
pub mod definition;
/// Processes a delivery.
pub mod delivery;
/// Updates mappings when attributes change.
pub mod dependents;
/// Causes of empty path results.
pub mod empty;
/// Stored endpoints.
pub mod endpoint;
/// The SQL and HTTP functions.
pub mod functions;
/// The log of deliveries.
pub mod log;
/// Limits the size of the log.
pub mod log_capacity;
/// Errors in the log.
pub mod logged_error;
/// Maps payloads to keys and attributes.
pub mod mapping;
/// Detects misread paths.
pub mod misreading;
/// The steps of a path.
pub mod path;
/// Checks the paths of a definition.
pub mod path_check;
/// Locates the path and item of an error.
pub mod path_error;
/// Payloads with values that jsonb does not support.
pub mod payload;
/// Replays deliveries, and tests mappings.
pub mod replay;
/// Signatures of Standard Webhooks.
pub mod signature;
