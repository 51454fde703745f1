//! Conversion between instants and local times of a time zone. Pure.

/// A time zone.
pub trait Zone {
    /// The offset from UTC in seconds at an instant, in seconds since 2000-01-01T00:00:00Z.
    fn offset_at(&self, seconds: i64) -> i64;
}

/// UTC.
pub struct Utc;

impl Zone for Utc {
    fn offset_at(&self, _seconds: i64) -> i64 {
        0
    }
}

/// The instants of a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instants {
    /// None: the clock skips the time.
    Never,
    /// One.
    Once(i64),
    /// Two, in ascending order: the clock repeats the time.
    Twice(i64, i64),
}

const SECOND: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;

/// The instants of a local time, both in microseconds since 2000-01-01.
pub fn instants(zone: &dyn Zone, local: i64) -> Instants {
    let seconds = local.div_euclid(SECOND);
    // The offsets before, during and after a clock change nearby.
    let mut found: Vec<i64> = [seconds - DAY_SECONDS, seconds, seconds + DAY_SECONDS]
        .into_iter()
        .map(|near| zone.offset_at(near))
        .filter(|offset| zone.offset_at(seconds - offset) == *offset)
        .map(|offset| local - offset * SECOND)
        .collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [] => Instants::Never,
        [at] => Instants::Once(at),
        [first, .., last] => Instants::Twice(first, last),
    }
}

/// The local time of an instant, both in microseconds since 2000-01-01.
pub fn local(zone: &dyn Zone, at: i64) -> i64 {
    at + zone.offset_at(at.div_euclid(SECOND)) * SECOND
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A zone like those of central Europe in the year 2000: an hour ahead of UTC, two in summer.
    pub(crate) struct Summer;

    /// 2000-03-26T01:00:00Z and 2000-10-29T01:00:00Z.
    const BEGINS: i64 = 85 * DAY_SECONDS + 3600;
    const ENDS: i64 = 302 * DAY_SECONDS + 3600;

    impl Zone for Summer {
        fn offset_at(&self, seconds: i64) -> i64 {
            if (BEGINS..ENDS).contains(&seconds) { 7200 } else { 3600 }
        }
    }

    #[test]
    fn skipped_local_time_has_no_instant_and_repeated_one_has_two() {
        let hour = |seconds: i64| seconds * SECOND;
        assert_eq!(instants(&Summer, hour(BEGINS + 3600 + 60)), Instants::Never);
        assert_eq!(instants(&Summer, hour(BEGINS + 3599)), Instants::Once(hour(BEGINS - 1)));
        assert_eq!(instants(&Summer, hour(BEGINS + 7200)), Instants::Once(hour(BEGINS)));
        let (first, second) = (hour(ENDS - 3600 + 60), hour(ENDS + 60));
        assert_eq!(instants(&Summer, hour(ENDS + 3600 + 60)), Instants::Twice(first, second));
        assert_eq!(instants(&Summer, hour(ENDS + 7200)), Instants::Once(hour(ENDS + 3600)));
    }

    proptest! {
        #[test]
        fn instant_is_among_those_of_its_local_time(
            at in prop_oneof![any::<i32>().prop_map(i64::from), BEGINS - 9999..BEGINS + 9999, ENDS - 9999..ENDS + 9999],
        ) {
            let at = at * SECOND;
            let is_found = match instants(&Summer, local(&Summer, at)) {
                Instants::Never => false,
                Instants::Once(one) => one == at,
                Instants::Twice(first, second) => at == first || at == second,
            };
            prop_assert!(is_found);
        }
    }
}
