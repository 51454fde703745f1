//! The embedding queue: records that need a new vector because a text changed.
//!
//! A call of a model can be slow, so the transaction that writes a record only queues it. External workers claim records for a
//! limited time, embed them without an open transaction, and return the vectors. A vector is stored only if the text has not
//! changed.
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
/// The SQL functions.
pub mod functions;
/// Retries and re-embedding for administrators.
pub mod manage;
/// The text of a record.
pub mod source;

use crate::error::{Code, Error};
use crate::template::catalog;
pub use crate::vectors::queue::TABLE;

/// The maximum number of attempts for a text.
pub const MAX_ATTEMPTS: i32 = 8;

/// Raises an error if the state is older than the queue.
pub fn require() -> Result<(), Error> {
    if exists() {
        return Ok(());
    }
    Err(Error::new(Code::Internal, "this database has no embedding queue")
        .hint("Run SELECT keyed.migrate()."))
}

/// Whether the queue exists.
pub fn exists() -> bool {
    catalog::table_oid("keyed_state", "embedding_job").is_some()
}
