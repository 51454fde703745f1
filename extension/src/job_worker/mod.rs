//! The background workers that run the jobs of [`crate::job`].

/// Runs jobs over all records, in chunks.
pub mod chunks;
/// The SQL functions.
pub mod functions;
/// Builds indexes.
pub mod index;
/// The main loop of a worker.
pub mod run;
/// The jobs of a worker and their schedule.
pub mod schedule;
