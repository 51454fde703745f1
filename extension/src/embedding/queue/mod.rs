//! The embedding queue: records that need a new vector because a text changed.
//!
//! Embedding calls a model, which may be slow, so it cannot happen in the transaction that writes the record: that
//! transaction only queues the record. External workers claim records for a limited time, embed them without an open
//! transaction, and send the vector back, which is stored only if the text has not changed.
//!
//! The triggers that write documents fill the queue (`keyed_state.embedding_job`). A claim locks with `for no key
//! update skip locked`. Its result is stored under the record's lock, and only if the claim is still valid and the
//! text has the same hash.

/// Claims.
pub mod claim;
/// Updates the queue when a template's definition changes.
pub mod definition;
/// Results of claims: stored, failed, or released.
pub mod finish;
/// The SQL functions and those of the worker.
pub mod functions;
/// Retries and re-embedding for administrators.
pub mod manage;
/// The text of a record.
pub mod source;

use crate::error::{Code, Error};
use crate::template::catalog;
pub use crate::vectors::queue::TABLE;

/// How often a text is claimed before it is given up.
pub const MAX_ATTEMPTS: i32 = 8;

/// Refuses a database whose state is older than the queue.
pub fn require() -> Result<(), Error> {
    if exists() {
        return Ok(());
    }
    Err(Error::new(Code::Internal, "this database has no queue of embeddings yet")
        .hint("Run SELECT keyed.migrate()."))
}

/// Whether there is a queue.
pub fn exists() -> bool {
    catalog::table_oid("keyed_state", "embedding_job").is_some()
}
