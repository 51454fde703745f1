//! Quotas: the maximum of records, templates, attributes and writes of a project.
//!
//! Templates and attributes are counted when they are defined, one definition at a time. Records and writes are
//! counted where the history is written, for every client; `counter` explains how this is exact without making writers
//! wait for each other.

/// Counts new records at the end of statements.
pub mod count;
/// Counting without waiting for each other.
mod counter;
/// Setting a quota.
pub mod define;
/// Quotas on templates and attributes.
pub mod definition;
/// The SQL functions.
pub mod functions;
/// The error of a quota that is reached.
mod reached;
/// Distributes a quota among its slots, under an exclusive lock.
mod rebalance;
/// Waiting for a quota before anything else is waited for.
pub mod reserve;
/// What a session remembers of its own slot.
mod session_state;
/// The slots of a quota.
mod slots;
/// Stored quotas.
pub mod stored;
/// Gathering room where one slot has not enough.
mod transfer;
/// Telling what is used.
pub mod usage;

pub use crate::error::quota::{Name, Reached};
pub use stored::of_project;
