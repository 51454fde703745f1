//! When each API key was last used, accurate to about a minute: sessions write it from time to time, not at every
//! request, and never wait for each other.

use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction;
use std::cell::RefCell;
use std::collections::HashMap;

/// How long a session keeps to itself that a key was used again: microseconds.
const PATIENCE: i64 = 60_000_000;

/// Past this many keys a session forgets when it wrote.
const MAX_KEYS: usize = 10_000;

thread_local! {
    static WRITTEN: RefCell<HashMap<i32, i64>> = RefCell::default();
}

/// Notes that a key is used in this transaction.
pub fn note(key: i32) {
    let now = transaction::began_at();
    let is_due = WRITTEN.with_borrow(|written| written.get(&key).is_none_or(|at| now - at > PATIENCE));
    if !is_due || !transaction::may_write() {
        return;
    }
    WRITTEN.with_borrow_mut(|written| {
        if written.len() >= MAX_KEYS {
            written.clear();
        }
        written.insert(key, now);
    });
    // Another session may have written a moment ago, or be about to.
    let sql = "with free as materialized (select u.key_id from keyed_state.api_key_use u where u.key_id = $1 \
                 and (u.last_used_at is null or u.last_used_at < now() - '30 seconds'::interval) \
                 for no key update skip locked) \
               update keyed_state.api_key_use u set last_used_at = now() from free where u.key_id = free.key_id";
    as_owner(|| {
        connected(|spi| {
            without_waiting(|| spi.run_once(sql, Snapshot::Latest, &params![key]).len());
        });
    });
}
