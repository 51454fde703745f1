//! Webhook endpoints: changes of records, delivered to other systems as Standard Webhooks.
//!
//! ```text
//! feed of changes ──queue──▶ deliveries ──claim──▶ worker ──HTTP──▶ receiver
//!                                ▲───────finish───────┘
//! ```
//!
//! An endpoint has a position in the feed of its project. One transaction reads the next page of the feed with the
//! privileges of the endpoint's role, inserts the deliveries and moves the position, so no delivery is lost or duplicated.
//! Workers claim due deliveries for a limited time, send them without an open transaction, and store the outcome. A delivery
//! is due when no earlier delivery of the same record to the same endpoint is unfinished, so the order of changes is
//! preserved for each record. The number of deliveries in flight is limited for each endpoint, so a slow receiver delays
//! only itself.

/// Claims.
pub mod claim;
/// Creates and changes endpoints.
pub mod configure;
/// The definition of an endpoint.
pub mod definition;
/// Updates filters and templates when definitions change.
pub mod dependents;
/// Stored endpoints.
pub mod endpoint;
/// Outcomes of deliveries.
pub mod finish;
/// The SQL and HTTP functions.
pub mod functions;
/// The log of deliveries, replays and tests.
pub mod log;
/// The body of a delivery.
pub mod payload;
/// Queues deliveries from the feed.
pub mod queue;
/// The delays between attempts.
pub mod schedule;
/// The URL of an endpoint.
pub mod url;
