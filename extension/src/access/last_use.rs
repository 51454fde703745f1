//! The last use of API keys, accurate to about a minute. A session writes it at most once a minute for each key, and
//! does not wait for other sessions.

use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction;
use std::cell::RefCell;
use std::collections::HashMap;

/// Minimum interval between writes for a key in a session, in microseconds.
const WRITE_INTERVAL: i64 = 60_000_000;

/// The maximum number of keys in `WRITTEN`; beyond it, the map is cleared.
const MOST_KEYS: usize = 10_000;

thread_local! {
    static WRITTEN: RefCell<HashMap<i32, i64>> = RefCell::default();
}

/// Records that this transaction uses a key.
pub fn record(key: i32) {
    let now = transaction::began_at();
    let is_due = WRITTEN.with_borrow(|written| written.get(&key).is_none_or(|at| now - at > WRITE_INTERVAL));
    if !is_due || !transaction::may_write() {
        return;
    }
    WRITTEN.with_borrow_mut(|written| {
        if written.len() >= MOST_KEYS {
            written.clear();
        }
        written.insert(key, now);
    });
    // Skips the write if another session has just written, or holds the row lock.
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
