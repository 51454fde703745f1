//! The delays between attempts. Pure.

/// The delays between attempts, in seconds.
const DELAYS: [i64; 8] = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 24 * 3600];

/// The maximum delay that a receiver can request, in seconds.
const MAX_RETRY_AFTER: i64 = 24 * 3600;

/// Milliseconds until the next attempt after this many; `None` if there is none. `random` adds a jitter of up to 10
/// percent. A receiver can request a longer delay, in seconds.
pub fn retry_delay(attempts: i32, retry_after: Option<i32>, random: u64) -> Option<i64> {
    let index = usize::try_from(attempts.max(1) - 1).ok()?;
    let rest = 1000 * DELAYS.get(index)?;
    let spread = (random % (rest as u64 / 10)) as i64;
    let requested = retry_after.map_or(0, |seconds| 1000 * i64::from(seconds).clamp(0, MAX_RETRY_AFTER));
    Some((rest + spread).max(requested))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn delays_follow_the_schedule() {
        let rests: Vec<Option<i64>> = (1..=9).map(|attempts| retry_delay(attempts, None, 0)).collect();
        let seconds = |rest: i64| Some(1000 * rest);
        let expected = [5, 30, 300, 1800, 7200, 18_000, 36_000, 86_400].map(seconds);
        assert_eq!(rests[..8], expected);
        assert_eq!(rests[8], None);
    }

    #[test]
    fn retry_after_extends_a_delay_up_to_a_day() {
        assert_eq!(retry_delay(1, Some(120), 0), Some(120_000));
        assert_eq!(retry_delay(3, Some(120), 0), Some(300_000));
        assert_eq!(retry_delay(1, Some(i32::MAX), 0), Some(86_400_000));
        assert_eq!(retry_delay(9, Some(120), 0), None);
    }

    proptest! {
        #[test]
        fn retry_jitter_is_at_most_10_percent(attempts in any::<i32>(), random: u64) {
            let plain = retry_delay(attempts, None, 0);
            let spread = retry_delay(attempts, None, random);
            match (plain, spread) {
                (Some(plain), Some(spread)) => prop_assert!(spread >= plain && spread < plain + plain / 10),
                (plain, spread) => prop_assert_eq!(plain, spread),
            }
        }
    }
}
