//! The feed of changes, read from the history tables.
//!
//! Each history row has a [position]: the id of the transaction that wrote it, or the position of the record's previous row
//! if that is greater. So the positions of a record never decrease, and rows with positions below the oldest open
//! transaction are final. Readers get only final rows, in the order of positions. So no row is skipped, whatever the commit
//! order. A long open transaction delays the feed.
//!
//! A [cursor] contains the position of the last row that was read, and the data against which the next request is checked:
//! the origin of transaction ids, the position of the write-ahead log, and the caller's read access.

/// The state of a reader between two requests.
pub mod cursor;
/// Records whose visibility changes because another record changes.
pub mod derived;
/// The JSON of an entry.
pub mod entry;
/// The followed templates, and the caller's read access to them.
pub mod followed;
/// The SQL and HTTP functions.
pub mod functions;
/// The origin of transaction ids.
pub mod generation;
/// The final part of the feed.
pub mod horizon;
/// Names of members in the stored changes of a history. The records that had a key.
pub mod key_history;
/// A page of the feed.
pub mod page;
/// Positions in the feed.
pub mod position;
/// History rows in feed order.
pub mod rows;
/// Whether a record has changed since a position.
pub mod unsettled;
/// The changes that are visible to a caller.
pub mod visible;
