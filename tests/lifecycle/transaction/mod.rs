//! Transactions that another session ends, or whose snapshot is older than the rows' removal.

mod old_snapshot;
mod prepared;
