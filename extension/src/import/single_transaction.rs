//! One transaction for a whole file: how it gets along with others, although it cannot take its locks in the order of
//! the keys, which it sees only portion by portion.

use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::setting;
use crate::template::Template;

/// Makes the transaction fit for a whole file: another one into the same template waits for its end, and where it
/// waits in a cycle with a batch, it is the batch that PostgreSQL ends: by its deadlock check, or where the cycle
/// closes after that check, by its lock timeout, which began before ours.
pub fn enter(template: &Template) {
    advisory_lock::lock(LockKind::Import, template.id as u64, Mode::Exclusive);
    setting::set_until_commit(c"deadlock_timeout", c"1min");
}
