//! How much room was in the session's own slot a moment ago (where it was plenty, nobody looks ahead), and where the row of
//! that slot was.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For so long others are not expected to use up plenty of room, nor to deal it out anew.
const MOMENT: Duration = Duration::from_secs(1);

struct Seen {
    room: i64,
    /// Where the row was, as PostgreSQL writes it.
    place: Option<String>,
    at: Instant,
}

thread_local! {
    /// By the number of the quota.
    static SEEN: RefCell<HashMap<u64, Seen>> = RefCell::default();
}

/// Remembers what was left when the session took something.
pub(super) fn remember(quota: u64, room: i64, place: Option<String>) {
    SEEN.with_borrow_mut(|seen| seen.insert(quota, Seen { room, place, at: Instant::now() }));
}

/// Where the row was. It may have gone elsewhere since, and something else may be there now.
pub(super) fn place(quota: u64) -> Option<String> {
    SEEN.with_borrow(|seen| seen.get(&quota).and_then(|it| it.place.clone()))
}

/// Whether there was so much room a moment ago.
pub(super) fn is_known_to_be(quota: u64, room: i64) -> bool {
    SEEN.with_borrow(|seen| seen.get(&quota).is_some_and(|it| it.room >= room && it.at.elapsed() < MOMENT))
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
        assert!(is_known_to_be(1, 300) && !is_known_to_be(1, 301) && !is_known_to_be(2, 1));
        remember(1, 10, Some("(0,1)".to_owned()));
        assert!(!is_known_to_be(1, 11));
        assert_eq!(place(1).as_deref(), Some("(0,1)"));
        forget();
        assert!(!is_known_to_be(1, 0));
    }

    #[test]
    fn what_was_seen_long_ago_is_not_known() {
        SEEN.with_borrow_mut(|seen| {
            seen.insert(3, Seen { room: 9, place: None, at: Instant::now() - 2 * MOMENT })
        });
        assert!(!is_known_to_be(3, 1));
    }
}
