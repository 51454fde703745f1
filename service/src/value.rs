//! Values of settings: numbers, sizes, times and secrets.

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

/// The number of cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get)
}

/// Parses a positive number of seconds, at most a day.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    // PostgreSQL interprets a timeout of 0 as no timeout.
    if !(0.001..=86_400.0).contains(&seconds) {
        return Err("not between 0.001 and 86400 seconds".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Parses a number of seconds, at most a day, or zero.
pub fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text.parse() == Ok(0.0) { Ok(Duration::ZERO) } else { seconds(text) }
}

/// Parses a number without a sign or fraction.
pub fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| if is_number { "too large" } else { "must be a whole number" }.to_owned())
}

/// A larger size is assumed to be a typo.
const MAX_BYTES: usize = 1 << 40;

/// Parses a number of bytes, with an optional unit KiB or MiB.
pub fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.find(|character: char| !character.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let factor = match unit.trim() {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return Err("not a number of bytes, KiB or MiB".into()),
    };
    let number: usize = digits.parse().map_err(|_| "not a number of bytes, KiB or MiB".to_owned())?;
    number.checked_mul(factor).filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(|| "too large".into())
}

/// The value of a setting, or the content of the file named by the setting with the suffix `_FILE`, which keeps a
/// secret out of the environment. `name` is the environment variable of the setting.
pub fn value_or_file(name: &str, value: Option<&str>, file: Option<&Path>) -> Result<Option<String>, String> {
    match (value, file) {
        (Some(value), _) => Ok(Some(value.to_owned())),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map(Some)
            .map_err(|error| format!("{name}_FILE {}: {error}.", file.display())),
        (None, None) => Ok(None),
    }
}

/// A secret from the environment or from a file. It must be a valid header value. Messages do not contain it.
pub fn credential(name: &str, value: Option<&str>, file: Option<&Path>) -> Result<Option<String>, String> {
    let Some(text) = value_or_file(name, value, file)? else { return Ok(None) };
    let text = text.trim();
    if text.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(format!("{name} has a character that cannot be part of a key."));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_size_or_time_is_rejected() {
        assert_eq!(bytes("512KiB"), Ok(512 << 10));
        assert_eq!(bytes("1000"), Ok(1000));
        for text in ["", "16MB", "-1", "1.5MiB", "99999999999999MiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "NaN", "inf", "5s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn size_has_a_binary_unit(number in 0..1_usize << 20, unit in prop::sample::select(vec![("", 0), ("KiB", 10), ("MiB", 20)])) {
            prop_assert_eq!(bytes(&format!("{number}{}", unit.0)), Ok(number << unit.1));
        }

        #[test]
        fn any_text_is_in_range_or_rejected(text in prop_oneof![any::<String>(), "[-+0-9.e]{0,9}( ?[KMG]i?B|s)?"]) {
            prop_assert!(bytes(&text).is_err() || text.starts_with(|it: char| it.is_ascii_digit()));
            if let Ok(time) = seconds(&text) {
                prop_assert!(time >= Duration::from_millis(1) && time <= Duration::from_secs(86_400));
            }
        }
    }
}
