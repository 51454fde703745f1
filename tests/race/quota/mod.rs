//! Quotas that concurrent writers fill.

mod edge;
mod writers;
