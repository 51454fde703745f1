//! Versions of keyed. Two versions of one line, such as `0.1.0` and `0.1.7`, work with each other: the interface between
//! library, SQL and proxy changes with the second number.

use std::cmp::Ordering;

/// The numbers before the last dot: `(0, 1)` of `0.1.7`.
fn line(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let line = (numbers.next()??, numbers.next()??);
    (numbers.next().is_some() && numbers.next().is_none()).then_some(line)
}

/// Compares the lines of two versions. What is no version compares as equal: nothing is known of it.
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
    fn versions_of_one_line_fit_and_others_are_older_or_newer() {
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
