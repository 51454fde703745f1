//! The session's cache of quotas: its own slot, the last known headroom (if it is ample, writers do not check first),
//! the ctid of its slot's row, and the amounts that the transaction has taken.

use crate::postgres::transaction;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The lifetime of a cached headroom. Other sessions are unlikely to use up an ample headroom in this time.
const MOMENT: Duration = Duration::from_secs(1);

struct Observation {
    headroom: i64,
    /// The row's ctid.
    place: Option<String>,
    at: Instant,
}

thread_local! {
    /// By the id of the quota.
    static OBSERVED: RefCell<HashMap<u64, Observation>> = RefCell::default();
    /// The amounts that a transaction has taken of each quota.
    static TAKEN: RefCell<(u64, HashMap<u64, i64>)> = RefCell::default();
    /// The slot of the session, if not its default one.
    static SLOT: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The slot of the session, if not its default one.
pub(super) fn slot() -> Option<i32> {
    SLOT.get()
}

/// Sets the slot of the session.
pub(super) fn set_slot(slot: i32) {
    SLOT.set(Some(slot));
}

/// Adds to the amount that the transaction has taken.
pub(super) fn record_taken(quota: u64, count: i64) {
    let transaction = transaction::number();
    TAKEN.with_borrow_mut(|(of, taken)| {
        if *of != transaction {
            (*of, *taken) = (transaction, HashMap::new());
        }
        *taken.entry(quota).or_default() += count;
    });
}

/// The approximate amount that this transaction has taken, including failed subtransactions.
pub(super) fn taken(quota: u64) -> i64 {
    TAKEN.with_borrow(|(of, taken)| match *of == transaction::number() {
        true => taken.get(&quota).copied().unwrap_or(0),
        false => 0,
    })
}

/// Caches the headroom after the session took an amount.
pub(super) fn remember(quota: u64, headroom: i64, place: Option<String>) {
    OBSERVED.with_borrow_mut(|seen| seen.insert(quota, Observation { headroom, place, at: Instant::now() }));
}

/// The ctid of the slot's row, which may be outdated.
pub(super) fn place(quota: u64) -> Option<String> {
    OBSERVED.with_borrow(|seen| seen.get(&quota).and_then(|it| it.place.clone()))
}

/// Whether the cached headroom is at least this much.
pub(super) fn had_headroom(quota: u64, headroom: i64) -> bool {
    OBSERVED.with_borrow(|seen| {
        seen.get(&quota).is_some_and(|it| it.headroom >= headroom && it.at.elapsed() < MOMENT)
    })
}

/// Clears the cache after a quota was set.
pub(super) fn forget() {
    OBSERVED.with_borrow_mut(HashMap::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observation_ends_when_a_quota_is_set() {
        remember(1, 300, None);
        assert!(had_headroom(1, 300) && !had_headroom(1, 301) && !had_headroom(2, 1));
        remember(1, 10, Some("(0,1)".to_owned()));
        assert!(!had_headroom(1, 11));
        assert_eq!(place(1).as_deref(), Some("(0,1)"));
        forget();
        assert!(!had_headroom(1, 0));
    }

    #[test]
    fn old_observation_is_not_used() {
        OBSERVED.with_borrow_mut(|seen| {
            seen.insert(3, Observation { headroom: 9, place: None, at: Instant::now() - 2 * MOMENT })
        });
        assert!(!had_headroom(3, 1));
    }
}
