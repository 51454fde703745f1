//! What the database measures of itself.

mod measurements;
mod slow_statements;
mod views;
