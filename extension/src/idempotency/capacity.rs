//! Limits the size of the stored responses of an API key. The size is computed occasionally, sooner if responses are large.
//! A flag marks a key that exceeds the limit, and requests check only the flag.

use super::plans::run;
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::spi::connected;
use crate::postgres::{random, setting};
use crate::template::catalog;
use std::cell::RefCell;
use std::collections::HashMap;

/// The approximate overhead of a row.
const ROW: i64 = 200;

/// The average interval of counts in bytes and in responses. With much capacity left, it is a fraction of the capacity.
const BYTES: u64 = 4 << 20;
const RESPONSES: u64 = 1024;
const PART: u64 = 16;

/// The maximum number of keys whose remaining capacity a session caches.
const MAX_KEYS: usize = 1000;

thread_local! {
    /// The remaining capacity of a key when this session last counted.
    static REMAINING: RefCell<HashMap<i32, u64>> = RefCell::default();
}

/// The number of bytes after which responses are counted again.
fn interval(api_key: i32) -> u64 {
    let left = REMAINING.with_borrow(|left| left.get(&api_key).copied().unwrap_or_default());
    BYTES.max(left / PART)
}

fn remember(api_key: i32, left: i64) {
    REMAINING.with_borrow_mut(|all| {
        if all.len() >= MAX_KEYS {
            all.clear();
        }
        all.insert(api_key, left.max(0) as u64);
    });
}

/// The time for which a full key is not counted again.
const FULL_FOR: &str = "interval '1 minute'";

/// Whether the state has the table.
fn exists() -> bool {
    catalog::table_oid("keyed_state", "idempotency_full").is_some()
}

/// An SQL expression for whether a key is full.
pub fn is_full(key: &str) -> String {
    match exists() {
        true => format!(
            "exists (select from keyed_state.idempotency_full f where f.key_id = {key} \
             and f.reached_at >= now() - {FULL_FOR})"
        ),
        false => "false".to_owned(),
    }
}

/// An SQL expression for whether a key was full at the last count.
pub fn was_full(key: &str) -> String {
    match exists() {
        true => format!("exists (select from keyed_state.idempotency_full f where f.key_id = {key})"),
        false => "false".to_owned(),
    }
}

/// The error for a request whose response cannot be stored.
pub fn none_left() -> Error {
    Error::new(
        Code::QuotaExceeded,
        "the stored responses of this API key have reached keyed.max_idempotency_size",
    )
    .hint(
        "Send the request without Idempotency-Key, or retry later: responses are stored for 24 hours. \
             An administrator can raise keyed.max_idempotency_size.",
    )
}

/// Occasionally computes the size of a key's responses, and sets or clears the flag. `size` is that of the latest response,
/// `was_full` the result of [`was_full`]. Must run as the owner.
pub fn recount(api_key: i32, size: i32, was_full: bool) {
    if !exists() {
        return;
    }
    let chance = (size.max(0) as u64).saturating_add(BYTES / RESPONSES);
    let is_due = random::next_u64() % interval(api_key) < chance;
    if !is_due && !was_full {
        return;
    }
    let sql = format!(
        "select sum(pg_column_size(r.answer) + {ROW})::bigint from keyed_state.idempotent_request r where r.key_id = $1"
    );
    let taken =
        connected(|spi| run(spi, &sql, &params![api_key]).get::<Option<i64>>(0, 0).unwrap_or_default());
    remember(api_key, setting::max_idempotency_size().saturating_sub(taken));
    let note = match taken > setting::max_idempotency_size() {
        true => {
            "insert into keyed_state.idempotency_full values ($1, now()) \
             on conflict (key_id) do update set reached_at = excluded.reached_at"
        }
        false if was_full => "delete from keyed_state.idempotency_full f where f.key_id = $1",
        false => return,
    };
    connected(|spi| {
        run(spi, note, &params![api_key]);
    });
}
