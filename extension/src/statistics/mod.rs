//! Statistics for administrators, and measurements for monitoring.

/// The SQL functions.
pub mod functions;
/// Measurements for monitoring.
mod measurements;
