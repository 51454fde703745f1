//! Quotas that many writers fill at once.

mod edge;
mod writers;
