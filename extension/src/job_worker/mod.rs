//! The background workers that do the jobs of [`crate::job`].

/// The SQL functions.
pub mod functions;
/// Indexes of attributes.
pub mod index;
/// Records, some at a time.
pub mod portions;
/// What a worker does.
pub mod run;
/// Whose turn it is.
pub mod turns;
