//! Concurrent writes of records.

mod creation;
mod increments;
mod isolation;
mod random_history;
mod released_keys;
mod versions;
mod waiting;
