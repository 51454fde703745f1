//! Quotas that concurrent writers fill.

mod limit;
mod writers;
