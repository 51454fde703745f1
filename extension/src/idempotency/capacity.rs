//! How much the answers of an API key may take. They are counted now and then, the sooner the larger an answer is, and a
//! key that has no more room is written down, so that a request costs no more than a look for that.

use super::store::plan;
use crate::error::{Code, Error};
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::{datum, random, setting};
use crate::template::catalog;
use pgrx::pg_sys::{self, Datum};
use std::cell::RefCell;
use std::collections::HashMap;

/// What a row takes beside its answer, about.
const ROW: i64 = 200;

/// After so many bytes of answers they are counted anew, and after so many answers, on average: where there is much room
/// left, after a part of it. So each answer is not counted with all others again and again.
const BYTES: u64 = 4 << 20;
const ANSWERS: u64 = 1024;
const PART: u64 = 16;

/// The most keys of which a session remembers the room.
const MOST_KEYS: usize = 1000;

thread_local! {
    /// How much room the answers of a key had when this session last counted them.
    static LEFT: RefCell<HashMap<i32, u64>> = RefCell::default();
}

/// After how many bytes of answers they are counted anew.
fn stretch(api_key: i32) -> u64 {
    let left = LEFT.with_borrow(|left| left.get(&api_key).copied().unwrap_or_default());
    BYTES.max(left / PART)
}

fn remember(api_key: i32, left: i64) {
    LEFT.with_borrow_mut(|all| {
        if all.len() >= MOST_KEYS {
            all.clear();
        }
        all.insert(api_key, left.max(0) as u64);
    });
}

/// How long a full key is not counted again.
const REFUSED_FOR: &str = "interval '1 minute'";

/// A state not yet migrated has no place for it.
fn exists() -> bool {
    catalog::table_oid("keyed_state", "idempotency_full").is_some()
}

/// Whether the answers of a key have no more room, as SQL.
pub fn is_full(key: &str) -> String {
    match exists() {
        true => format!(
            "exists (select from keyed_state.idempotency_full f where f.key_id = {key} \
             and f.reached_at >= now() - {REFUSED_FOR})"
        ),
        false => "false".to_owned(),
    }
}

/// Whether the answers of a key had no more room when that was last looked at, as SQL.
pub fn was_full(key: &str) -> String {
    match exists() {
        true => format!("exists (select from keyed_state.idempotency_full f where f.key_id = {key})"),
        false => "false".to_owned(),
    }
}

/// The refusal of a request whose answer could not be kept.
pub fn none_left() -> Error {
    Error::new(Code::QuotaExceeded, "the answers that are kept for this API key take as much room as they may")
        .hint(
            "send the request without Idempotency-Key, or later: an answer is forgotten after 24 hours; an administrator \
             may raise keyed.idempotency_room",
        )
}

/// Counts what a key's answers take, now and then, and notes whether that is too much. `size`: of the latest answer.
/// `was_full`: what [`was_full`] says. Runs as the owner.
pub fn recount(api_key: i32, size: i32, was_full: bool) {
    if !exists() {
        return;
    }
    let arguments = [Some(Datum::from(api_key))];
    let chance = (size.max(0) as u64).saturating_add(BYTES / ANSWERS);
    let is_due = random::next_u64() % stretch(api_key) < chance;
    if !is_due && !was_full {
        return;
    }
    let sql = format!(
        "select sum(pg_column_size(r.answer) + {ROW})::bigint from keyed_state.idempotent_request r where r.key_id = $1"
    );
    let taken = connected(|spi| {
        let rows = spi.run(&plan(&sql, &[pg_sys::INT4OID]), Snapshot::Latest, &arguments);
        rows.get(0, 0).map_or(0, datum::read_i64)
    });
    remember(api_key, setting::idempotency_room().saturating_sub(taken));
    let note = match taken > setting::idempotency_room() {
        true => {
            "insert into keyed_state.idempotency_full values ($1, now()) \
             on conflict (key_id) do update set reached_at = excluded.reached_at"
        }
        false if was_full => "delete from keyed_state.idempotency_full f where f.key_id = $1",
        false => return,
    };
    connected(|spi| {
        spi.run(&plan(note, &[pg_sys::INT4OID]), Snapshot::Latest, &arguments);
    });
}
