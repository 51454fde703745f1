//! The feed of changes: what others changed, made from the history as it is written.
//!
//! Each row of history has a [position]: the id of the transaction that wrote it, or that of a later transaction by which the
//! record was changed before. So the positions of a record never decrease, and what has a position below the oldest
//! transaction that is still open is final. A reader shows that part only, in the order of positions. Nothing is skipped,
//! whatever the order of commits is, and a transaction that stays open delays the feed.
//!
//! A [cursor] is the place of the last row that was read, with what a later request is checked against: where the ids of
//! transactions come from, how far the log was, and what the caller could read.

/// What a caller gets who reads on from a cursor.
pub mod cursor;
/// Records that a change of another record affects.
pub mod derived;
/// The JSON of an entry.
pub mod entry;
/// Which templates are followed, and the rights to read them.
pub mod followed;
/// The SQL and HTTP functions.
pub mod functions;
/// Where the ids of transactions come from.
pub mod generation;
/// What is final.
pub mod horizon;
/// The names in what a history stores of a change.
/// Who held a key.
pub mod key_history;
/// A page of the feed.
pub mod page;
/// Places in the feed.
pub mod position;
/// The rows of histories in the order of the feed.
pub mod rows;
/// Whether a record has changed since a position.
pub mod unsettled;
/// What a caller sees of a row of history.
pub mod visible;
