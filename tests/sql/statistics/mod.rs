//! What the database measures of itself.

mod measurements;
mod views;
