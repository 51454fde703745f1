//! Transactions that another session ends, or whose snapshot outlives the rows that it shows.

mod old_snapshot;
mod prepared;
