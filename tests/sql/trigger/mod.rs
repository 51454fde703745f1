//! Rows that statements write directly: every rule holds as by function.

mod additions;
mod direct;
mod refusals;
mod standard_columns;
