//! Imports a file in one transaction. It cannot take its locks in the order of keys, because it sees only one portion
//! at a time.

use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::setting;
use crate::template::Template;

/// Prepares the transaction: a concurrent import into the same template waits for its end, and in a deadlock with a
/// batch, PostgreSQL ends the batch: by the deadlock check, or if the cycle closes after that check, by the lock
/// timeout, which began earlier.
pub fn enter(template: &Template) {
    advisory_lock::lock(LockKind::Import, template.id as u64, Mode::Exclusive);
    setting::set_until_commit(c"deadlock_timeout", c"1min");
}
