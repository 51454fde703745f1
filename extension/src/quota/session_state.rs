//! Which slot is the session's own, how much room was there a moment ago (where it was plenty, nobody looks ahead), where
//! its row was, and how much the transaction has taken.

use crate::postgres::transaction;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For so long others are not expected to use up plenty of room, nor to deal it out anew.
const MOMENT: Duration = Duration::from_secs(1);

struct Seen {
    headroom: i64,
    /// Where the row was, as PostgreSQL writes it.
    place: Option<String>,
    at: Instant,
}

thread_local! {
    /// By the number of the quota.
    static SEEN: RefCell<HashMap<u64, Seen>> = RefCell::default();
    /// What a transaction, named by its number, has taken of the quotas.
    static TAKEN: RefCell<(u64, HashMap<u64, i64>)> = RefCell::default();
    /// The slot that the session has chosen when its first one was another's.
    static SLOT: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The slot that the session has chosen, if any.
pub(super) fn slot() -> Option<i32> {
    SLOT.get()
}

/// Makes a slot the session's own.
pub(super) fn set_slot(slot: i32) {
    SLOT.set(Some(slot));
}

/// The transaction has taken so many.
pub(super) fn record_taken(quota: u64, count: i64) {
    let transaction = transaction::number();
    TAKEN.with_borrow_mut(|(of, taken)| {
        if *of != transaction {
            (*of, *taken) = (transaction, HashMap::new());
        }
        *taken.entry(quota).or_default() += count;
    });
}

/// About how many this transaction has taken: what a failed subtransaction took is among them.
pub(super) fn taken(quota: u64) -> i64 {
    TAKEN.with_borrow(|(of, taken)| match *of == transaction::number() {
        true => taken.get(&quota).copied().unwrap_or(0),
        false => 0,
    })
}

/// Remembers what was left when the session took something.
pub(super) fn remember(quota: u64, headroom: i64, place: Option<String>) {
    SEEN.with_borrow_mut(|seen| seen.insert(quota, Seen { headroom, place, at: Instant::now() }));
}

/// Where the row was. It may have gone elsewhere since, and something else may be there now.
pub(super) fn place(quota: u64) -> Option<String> {
    SEEN.with_borrow(|seen| seen.get(&quota).and_then(|it| it.place.clone()))
}

/// Whether there was so much room a moment ago.
pub(super) fn had_headroom(quota: u64, headroom: i64) -> bool {
    SEEN.with_borrow(|seen| {
        seen.get(&quota).is_some_and(|it| it.headroom >= headroom && it.at.elapsed() < MOMENT)
    })
}

/// Forgets everything: a quota was set.
pub(super) fn forget() {
    SEEN.with_borrow_mut(HashMap::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_known_as_it_was_seen_last_and_until_a_quota_is_set() {
        remember(1, 300, None);
        assert!(had_headroom(1, 300) && !had_headroom(1, 301) && !had_headroom(2, 1));
        remember(1, 10, Some("(0,1)".to_owned()));
        assert!(!had_headroom(1, 11));
        assert_eq!(place(1).as_deref(), Some("(0,1)"));
        forget();
        assert!(!had_headroom(1, 0));
    }

    #[test]
    fn what_was_seen_long_ago_is_not_known() {
        SEEN.with_borrow_mut(|seen| {
            seen.insert(3, Seen { headroom: 9, place: None, at: Instant::now() - 2 * MOMENT })
        });
        assert!(!had_headroom(3, 1));
    }
}
