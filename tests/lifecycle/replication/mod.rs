//! Logical replication.

/// A copy of a database with keyed.
mod copy;
/// A database without keyed.
mod warehouse;
