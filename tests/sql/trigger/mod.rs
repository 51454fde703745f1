//! Rows that statements write directly: every rule holds as by function.

mod additions;
mod direct;
mod dropped;
mod errors;
mod standard_columns;
