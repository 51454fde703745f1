//! Quotas: the maximum of records, templates, attributes and writes of a project.
//!
//! Templates and attributes are counted when they are defined, one definition at a time. Records and writes are
//! counted by the history triggers, for every client. `counter` explains how this is exact although writers do not
//! wait for each other.

/// Counts new records at the end of statements.
pub mod count;
/// Counts without making writers wait for each other.
mod counter;
/// Sets quotas.
pub mod define;
/// Quotas on templates and attributes.
pub mod definition;
/// The SQL functions.
pub mod functions;
/// The error of a quota that is reached.
mod reached;
/// Distributes a quota among its slots, under an exclusive lock.
mod rebalance;
/// Waits for a quota before other locks are taken.
pub mod reserve;
/// The session's cache of its own slot.
mod session_state;
/// The slots of a quota.
mod slots;
/// Stored quotas.
pub mod stored;
/// Transfers headroom between slots.
mod transfer;
/// Reports the usage.
pub mod usage;

pub use crate::error::quota::{Name, Reached};
pub use stored::of_project;
