//! Numbers in the text form of `numeric`: digits without an exponent, `NaN` or an infinity.

use std::cmp::Ordering;

/// The number without trailing zeros in its fraction: `1.50` becomes `1.5`.
pub fn without_trailing_zeros(decimal: &str) -> &str {
    if !decimal.contains('.') {
        return decimal;
    }
    decimal.trim_end_matches('0').trim_end_matches('.')
}

/// Compares two numbers as PostgreSQL does: `NaN` is greater than all others.
pub fn compare(one: &str, other: &str) -> Ordering {
    let [one, other] = [one, other].map(Parts::of);
    one.class.cmp(&other.class).then_with(|| {
        let order = one.whole.len().cmp(&other.whole.len()).then_with(|| one.digits().cmp(&other.digits()));
        if one.class == Class::Negative { order.reverse() } else { order }
    })
}

/// Classes in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    NegativeInfinity,
    Negative,
    /// Including zero.
    Positive,
    Infinity,
    NotANumber,
}

/// The parts of a number that determine its order.
struct Parts<'a> {
    class: Class,
    /// The digits before the decimal point, without leading zeros.
    whole: &'a str,
    /// The digits after the decimal point.
    fraction: &'a str,
}

impl<'a> Parts<'a> {
    fn of(decimal: &'a str) -> Parts<'a> {
        let (class, digits) = match decimal {
            "-Infinity" => (Class::NegativeInfinity, ""),
            "Infinity" => (Class::Infinity, ""),
            "NaN" => (Class::NotANumber, ""),
            _ => match decimal.strip_prefix('-') {
                Some(digits) => (Class::Negative, digits),
                None => (Class::Positive, decimal),
            },
        };
        let (whole, fraction) =
            without_trailing_zeros(digits).split_once('.').unwrap_or((without_trailing_zeros(digits), ""));
        Parts { class, whole: whole.trim_start_matches('0'), fraction }
    }

    /// The digits that order numbers of the same class and length.
    fn digits(&self) -> (&'a str, &'a str) {
        (self.whole, self.fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_order_of_postgresql() {
        let ascending = [
            "-Infinity",
            "-1000",
            "-999.5",
            "-10",
            "-9.01",
            "-9.001",
            "-9",
            "-0.5",
            "-0.05",
            "0",
            "0.004",
            "0.04",
            "0.4",
            "0.41",
            "1",
            "1.5",
            "9",
            "10",
            "10.01",
            "99",
            "100",
            "Infinity",
            "NaN",
        ];
        for (place, one) in ascending.iter().enumerate() {
            for (other_place, other) in ascending.iter().enumerate() {
                assert_eq!(compare(one, other), place.cmp(&other_place), "{one} and {other}");
            }
        }
    }

    #[test]
    fn trailing_zeros_do_not_change_a_number() {
        for (one, other) in
            [("1", "1.000"), ("0", "0.0"), ("-2.50", "-2.5"), ("100", "100.0"), ("NaN", "NaN")]
        {
            assert_eq!(compare(one, other), Ordering::Equal, "{one} and {other}");
            assert_eq!(without_trailing_zeros(one), without_trailing_zeros(other));
        }
        assert_eq!(without_trailing_zeros("1200"), "1200");
    }
}
