//! The queue of embedding: which records need another vector, because a text of theirs changed.
//!
//! A text goes to a model that may be far away, so a vector cannot be made in the transaction that writes the record:
//! that only writes down, in the same transaction, what is to be done. Workers outside claim it for a while, have it
//! embedded with no transaction open, and bring the vector back, which is stored only if the text is still the same.

/// Work is handed out.
pub mod claim;
/// What a change of a template's definition means for its records.
pub mod definition;
/// Work comes back: done, failed, or not done.
pub mod finish;
/// The SQL functions and those of the worker.
pub mod functions;
/// What administrators order.
pub mod manage;
/// The text of a record.
pub mod source;

use crate::error::{Code, Error};
use crate::template::catalog;
pub use crate::vectors::queue::TABLE;

/// How often a text is claimed before it is given up.
pub const MOST_ATTEMPTS: i32 = 8;

/// Refuses a database whose state is older than the queue.
pub fn require() -> Result<(), Error> {
    if exists() {
        return Ok(());
    }
    Err(Error::new(Code::Internal, "this database has no queue of embeddings yet")
        .hint("run: SELECT keyed.migrate()"))
}

/// Whether there is a queue.
pub fn exists() -> bool {
    catalog::table_oid("keyed_state", "embedding_job").is_some()
}
