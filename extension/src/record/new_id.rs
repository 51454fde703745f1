//! Generates ids of records, and stores the latest ids of the session.

use crate::postgres::random;
use crate::value::record_id::{compose, stamp};
use std::cell::{Cell, RefCell};
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The maximum number of stored ids. At least half as many are always stored, which covers one batch or one chunk of an
/// import.
const MAX_LATEST: usize = 16 * 1024;

thread_local! {
    /// The latest 60-bit timestamp, so that the ids of a session ascend.
    static LATEST_STAMP: Cell<u64> = const { Cell::new(0) };
    /// The latest ids of this session in ascending order. No other session has used them.
    static LATEST_IDS: RefCell<Vec<Uuid>> = const { RefCell::new(Vec::new()) };
}

/// A new id for a record of the template with this id.
pub fn new_id(template: i32) -> Uuid {
    generate(template, random::next_u64())
}

/// `random` must have at least 38 random bits.
fn generate(template: i32, random: u64) -> Uuid {
    let now = stamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let stamp = LATEST_STAMP.with(|latest| {
        let stamp = now.max(latest.get() + 1);
        latest.set(stamp);
        stamp
    });
    let id = compose(stamp, template, random);
    LATEST_IDS.with_borrow_mut(|latest| {
        if latest.len() >= MAX_LATEST {
            latest.drain(..MAX_LATEST / 2);
        }
        latest.push(id);
    });
    id
}

/// Whether `id` is one of the latest ids of this session, for which no history can exist.
pub fn is_fresh(id: Uuid) -> bool {
    LATEST_IDS.with_borrow(|latest| latest.last() == Some(&id) || latest.binary_search(&id).is_ok())
}

/// Removes an id whose record was removed, because its history remains.
pub fn remove(id: Uuid) {
    LATEST_IDS.with_borrow_mut(|latest| latest.retain(|it| *it != id));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_session_ascend() {
        let ids: Vec<Uuid> = (0..10_000).map(|random| generate(3, random)).collect();
        assert!(ids.is_sorted_by(|earlier, later| earlier < later));
    }

    #[test]
    fn ids_of_a_chunk_stay_fresh_after_earlier_ids() {
        for earlier in [0, 1, MAX_LATEST / 2 - 1, MAX_LATEST / 2, 99] {
            (0..earlier).for_each(|_| {
                generate(3, 1);
            });
            let ids: Vec<Uuid> = (0..MAX_LATEST / 2).map(|_| generate(3, 1)).collect();
            assert!(ids.iter().all(|id| is_fresh(*id)));
        }
    }

    #[test]
    fn id_is_a_uuid_of_version_8() {
        let id = generate(9, 1);
        assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
        assert!(is_fresh(id) && !is_fresh(Uuid::from_u128(id.as_u128() + 1)));
    }
}
