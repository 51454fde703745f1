//! The change feed with concurrent writers.

mod mirror;
