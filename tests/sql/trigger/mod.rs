//! Rows written by direct SQL: every rule of the functions applies.

mod additions;
mod direct;
mod dropped;
mod errors;
mod standard_columns;
