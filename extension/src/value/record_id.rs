//! Record ids: UUID version 8 (RFC 9562 §5.8), ordered by time, carrying the number of their template.
//!
//! Layout, most significant bit first: 48 bits milliseconds since 1970, 4 bits version, 12 bits fraction of
//! the millisecond, 2 bits variant, 24 bits template number, 38 bits random.
//!
//! So an id alone finds its table, and there is no registry of records.

use std::time::Duration;
use uuid::Uuid;

/// The highest template number that fits into an id.
pub const MAX_TEMPLATE: i32 = (1 << 24) - 1;

/// The number of the template whose record this id names, or `None` when it is not an id of ours.
pub fn template_of(id: Uuid) -> Option<i32> {
    (id.get_version_num() == 8 && id.get_variant() == uuid::Variant::RFC4122)
        .then(|| ((id.as_u128() >> 38) & 0xff_ffff) as i32)
        .filter(|&template| template > 0)
}

/// The 60-bit time stamp of a time since 1970.
pub fn stamp(since_1970: Duration) -> u64 {
    let fraction = u64::from(since_1970.subsec_nanos() % 1_000_000) * 4096 / 1_000_000;
    ((since_1970.as_millis() as u64) << 12) | fraction
}

/// The id of a time stamp, a template and 38 random bits.
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
    fn an_id_names_its_template() {
        for template in [1, 7, 65_536, MAX_TEMPLATE] {
            assert_eq!(template_of(compose(1 << 59, template, u64::MAX)), Some(template));
        }
        assert_eq!(template_of(Uuid::nil()), None);
        assert_eq!(template_of(Uuid::from_u64_pair(0x4000, 0b10 << 62 | 7 << 38)), None);
    }

    #[test]
    fn a_stamp_has_milliseconds_and_a_fraction_of_them() {
        for (nanoseconds, expected) in [(0, 0), (999_999, 4095), (1_000_000, 4096), (1_500_000, 4096 + 2048)]
        {
            assert_eq!(stamp(Duration::from_nanos(nanoseconds)), expected, "{nanoseconds}");
        }
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
