//! Record ids: UUID version 8 (RFC 9562 §5.8), ordered by time, carrying the number of their template.
//!
//! Layout, most significant bit first: 48 bits milliseconds since 1970, 4 bits version, 12 bits fraction of
//! the millisecond, 2 bits variant, 24 bits template number, 38 bits random.

use std::cell::{Cell, RefCell};
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The highest template number that fits into an id.
pub const MAX_TEMPLATE: i32 = (1 << 24) - 1;

/// At least half as many of the latest ids are remembered: as many as one batch, or one portion of an import, makes.
const MOST_LATEST: usize = 16 * 1024;

thread_local! {
    /// The latest 60-bit time stamp given out, so that ids of one session always ascend.
    static LATEST_STAMP: Cell<u64> = const { Cell::new(0) };
    /// The latest ids made by this session, ascending: nobody else can have written them yet.
    static LATEST_IDS: RefCell<Vec<Uuid>> = const { RefCell::new(Vec::new()) };
}

/// A new id for a record of the template with this number; `random` supplies at least 38 random bits.
pub fn generate(template: i32, random: u64) -> Uuid {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fraction = u64::from(elapsed.subsec_nanos() % 1_000_000) * 4096 / 1_000_000;
    let now = ((elapsed.as_millis() as u64) << 12) | fraction;
    let stamp = LATEST_STAMP.with(|latest| {
        let stamp = now.max(latest.get() + 1);
        latest.set(stamp);
        stamp
    });
    let id = compose(stamp, template, random);
    LATEST_IDS.with_borrow_mut(|latest| {
        if latest.len() >= MOST_LATEST {
            latest.drain(..MOST_LATEST / 2);
        }
        latest.push(id);
    });
    id
}

/// Whether `id` is among the latest that this session made, so that no history of it can exist.
pub fn is_fresh(id: Uuid) -> bool {
    LATEST_IDS.with_borrow(|latest| latest.last() == Some(&id) || latest.binary_search(&id).is_ok())
}

/// Takes an id out of the latest: its record is gone for good, but its history is not.
pub fn forget(id: Uuid) {
    LATEST_IDS.with_borrow_mut(|latest| latest.retain(|it| *it != id));
}

/// The number of the template whose record this id names, or `None` when it is not an id of ours.
pub fn template_of(id: Uuid) -> Option<i32> {
    (id.get_version_num() == 8 && id.get_variant() == uuid::Variant::RFC4122)
        .then(|| ((id.as_u128() >> 38) & 0xff_ffff) as i32)
        .filter(|&template| template > 0)
}

fn compose(stamp: u64, template: i32, random: u64) -> Uuid {
    let high = (stamp >> 12 << 16) | 0x8000 | (stamp & 0xfff);
    let low = (0b10 << 62) | ((template as u64 & 0xff_ffff) << 38) | (random & ((1 << 38) - 1));
    Uuid::from_u64_pair(high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_names_its_template() {
        for template in [1, 7, 65_536, MAX_TEMPLATE] {
            assert_eq!(template_of(generate(template, u64::MAX)), Some(template));
        }
        assert_eq!(template_of(Uuid::nil()), None);
        assert_eq!(template_of(Uuid::from_u64_pair(0x4000, 0b10 << 62 | 7 << 38)), None);
    }

    #[test]
    fn ids_of_one_session_ascend() {
        let ids: Vec<Uuid> = (0..10_000).map(|random| generate(3, random)).collect();
        assert!(ids.is_sorted_by(|earlier, later| earlier < later));
    }

    #[test]
    fn the_ids_of_a_portion_are_remembered_whatever_was_made_before() {
        for made_before in [0, 1, MOST_LATEST / 2 - 1, MOST_LATEST / 2, 99] {
            (0..made_before).for_each(|_| {
                generate(3, 1);
            });
            let ids: Vec<Uuid> = (0..MOST_LATEST / 2).map(|_| generate(3, 1)).collect();
            assert!(ids.iter().all(|id| is_fresh(*id)));
        }
    }

    #[test]
    fn an_id_is_a_valid_uuid_of_version_8() {
        let id = generate(9, 1);
        assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
        assert!(is_fresh(id) && !is_fresh(Uuid::from_u128(id.as_u128() + 1)));
    }

    proptest! {
        #[test]
        fn no_part_of_an_id_spills_into_another(stamp in 0..1_u64 << 60, template in 1..=MAX_TEMPLATE, random in any::<u64>()) {
            let id = compose(stamp, template, random);
            prop_assert_eq!(template_of(id), Some(template));
            prop_assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
            prop_assert_eq!(id.as_u128() >> 80, u128::from(stamp >> 12));
            // A later time is a greater id, whatever the rest is.
            prop_assert!(compose(stamp + 1, 1, 0) > id || stamp + 1 == 1 << 60);
        }

        #[test]
        fn any_uuid_names_a_template_of_ours_or_none(bits in any::<u128>()) {
            prop_assert!(template_of(Uuid::from_u128(bits)).is_none_or(|it| (1..=MAX_TEMPLATE).contains(&it)));
        }
    }
}
