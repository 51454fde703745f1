//! Versions of keyed. Versions that differ only in the last number, such as `0.1.0` and `0.1.7`, are compatible: the
//! interface between library, SQL and proxy changes only with the second number. Pure.

use std::cmp::Ordering;

/// The first two numbers: `(0, 1)` of `0.1.7`.
fn line(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let line = (numbers.next()??, numbers.next()??);
    (numbers.next().is_some() && numbers.next().is_none()).then_some(line)
}

/// Compares the first two numbers of two versions. An invalid version compares as equal to all others.
pub fn compare_lines(one: &str, other: &str) -> Ordering {
    match (line(one), line(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_two_numbers_are_compared() {
        for (one, other, expected) in [
            ("0.1.0", "0.1.7", Ordering::Equal),
            ("0.2.0", "0.1.99", Ordering::Greater),
            ("0.9.0", "0.10.0", Ordering::Less),
            ("1.0.0", "0.99.9", Ordering::Greater),
            ("0.2.0-rc.1", "0.2.0", Ordering::Equal),
        ] {
            assert_eq!(compare_lines(one, other), expected, "{one} and {other}");
            assert_eq!(compare_lines(other, one), expected.reverse(), "{other} and {one}");
        }
        for unknown in ["", "1", "1.2", "1.2.3.4", "unpackaged"] {
            assert_eq!(compare_lines(unknown, "0.2.0"), Ordering::Equal, "{unknown}");
        }
    }
}
