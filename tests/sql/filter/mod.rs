//! Filters: results, errors and cost.

mod cost;
mod days;
mod errors;
mod limits;
mod logic;
mod normal_forms;
mod operators;
mod references;
