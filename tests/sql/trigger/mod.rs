//! Rows that statements write directly: every rule holds as by function.

mod direct;
mod standard_columns;
