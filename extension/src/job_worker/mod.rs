//! The background workers that do the jobs of [`crate::job`].

/// The SQL functions.
pub mod functions;
/// Indexes of attributes.
pub mod index;
/// A job as a worker runs it.
mod job;
/// Jobs over all records, in portions.
pub mod portions;
/// The main loop of a worker.
pub mod run;
/// The schedule of jobs.
pub mod turns;
