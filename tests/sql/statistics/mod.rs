//! Measurements that the database makes of itself.

mod measurements;
mod slow_statements;
mod views;
