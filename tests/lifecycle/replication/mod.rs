//! Logical replication.

/// A copy of a database of keyed.
mod copy;
/// A database without keyed.
mod warehouse;
