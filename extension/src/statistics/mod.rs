//! What the database measures of itself, for monitoring and for administrators.

/// The SQL functions.
pub mod functions;
/// Numbers for a monitoring system.
mod measurements;
