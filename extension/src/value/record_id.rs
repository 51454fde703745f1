//! Record ids: time-ordered UUIDs of version 8 (RFC 9562 §5.8) that contain the id of their template. Pure.
//!
//! Layout, most significant bit first: 48 bits milliseconds since 1970, 4 bits version, 12 bits fraction of the millisecond,
//! 2 bits variant, 24 bits template id, of which the upper 7 are its shard (`shard.rs`), 38 random bits.
//!
//! An id identifies its table, so keyed needs no registry of records.

use std::time::Duration;
use uuid::Uuid;

/// The maximum template id.
pub const MAX_TEMPLATE: i32 = (1 << 24) - 1;

/// The template id in a record id; `None` if the UUID is not a record id.
pub fn template_of(id: Uuid) -> Option<i32> {
    (id.get_version_num() == 8 && id.get_variant() == uuid::Variant::RFC4122)
        .then(|| ((id.as_u128() >> 38) & 0xff_ffff) as i32)
        .filter(|&template| template > 0)
}

/// The 60-bit timestamp of a time since 1970.
pub fn stamp(since_1970: Duration) -> u64 {
    let fraction = u64::from(since_1970.subsec_nanos() % 1_000_000) * 4096 / 1_000_000;
    ((since_1970.as_millis() as u64) << 12) | fraction
}

/// Composes an id of a timestamp, a template and 38 random bits.
pub fn compose(stamp: u64, template: i32, random: u64) -> Uuid {
    let high = (stamp >> 12 << 16) | 0x8000 | (stamp & 0xfff);
    let low = (0b10 << 62) | ((template as u64 & 0xff_ffff) << 38) | (random & ((1 << 38) - 1));
    Uuid::from_u64_pair(high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn id_contains_its_template() {
        for template in [1, 7, 65_536, MAX_TEMPLATE] {
            assert_eq!(template_of(compose(1 << 59, template, u64::MAX)), Some(template));
        }
        assert_eq!(template_of(Uuid::nil()), None);
        assert_eq!(template_of(Uuid::from_u64_pair(0x4000, 0b10 << 62 | 7 << 38)), None);
    }

    #[test]
    fn stamp_has_milliseconds_and_their_fraction() {
        for (nanoseconds, expected) in [(0, 0), (999_999, 4095), (1_000_000, 4096), (1_500_000, 4096 + 2048)]
        {
            assert_eq!(stamp(Duration::from_nanos(nanoseconds)), expected, "{nanoseconds}");
        }
    }

    proptest! {
        #[test]
        fn parts_of_an_id_do_not_overlap(stamp in 0..1_u64 << 60, template in 1..=MAX_TEMPLATE, random in any::<u64>()) {
            let id = compose(stamp, template, random);
            prop_assert_eq!(template_of(id), Some(template));
            prop_assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
            prop_assert_eq!(id.as_u128() >> 80, u128::from(stamp >> 12));
            // A later timestamp makes a greater id.
            prop_assert!(compose(stamp + 1, 1, 0) > id || stamp + 1 == 1 << 60);
        }

        #[test]
        fn any_uuid_has_a_valid_template_or_none(bits in any::<u128>()) {
            prop_assert!(template_of(Uuid::from_u128(bits)).is_none_or(|it| (1..=MAX_TEMPLATE).contains(&it)));
        }
    }
}
