//! Inbound endpoints: deliveries of other systems become records.
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
/// Why a path finds nothing.
pub mod empty;
/// Endpoints, as they are stored and shown.
pub mod endpoint;
/// The SQL and HTTP functions.
pub mod functions;
/// The log of deliveries.
pub mod log;
/// Limits the size of the log.
pub mod log_capacity;
/// Errors of deliveries, as the log keeps them.
pub mod logged_error;
/// Payload → keys and attributes.
pub mod mapping;
/// Paths that jsonpath reads in another way than their author means.
pub mod misreading;
/// The steps of a path.
pub mod path;
/// Checks the paths of a definition.
pub mod path_check;
/// Which path of a mapping fails in which item.
pub mod path_fault;
/// Payloads with values that jsonb cannot hold.
pub mod payload;
/// Replays deliveries, and tests mappings.
pub mod replay;
/// Signatures of Standard Webhooks.
pub mod signature;
