//! Payloads with values that jsonb does not support: U+0000, lone surrogates, and numbers outside the range of `numeric`.
//!
//! Such a value fails a delivery only if a path finds it or can compare it. An unpredictable marker replaces it, and results of
//! paths are searched for the marker.

use super::definition::Mapping;
use crate::error::{Code, Error};
use std::borrow::Cow;

/// The maximum number of digits of `numeric` before and after the decimal point.
const NUMERIC_DIGITS: (i64, i64) = (131_072, 16_383);

/// A value that jsonb does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unreadable {
    Zero,
    Surrogate,
    Number,
}

const ALL: [Unreadable; 3] = [Unreadable::Zero, Unreadable::Surrogate, Unreadable::Number];

impl Unreadable {
    /// The letter after the marker.
    fn letter(self) -> char {
        match self {
            Unreadable::Zero => '0',
            Unreadable::Surrogate => 's',
            Unreadable::Number => 'n',
        }
    }

    fn description(self) -> &'static str {
        match self {
            Unreadable::Zero => "a string with U+0000",
            Unreadable::Surrogate => "a string with an unpaired surrogate",
            Unreadable::Number => "a number beyond the range of numeric",
        }
    }
}

/// A payload with the marker in place of each value that jsonb does not support. The marker consists of letters and digits.
pub fn readable<'p>(payload: &'p str, marker: &str) -> Cow<'p, str> {
    let bytes = payload.as_bytes();
    let (mut out, mut kept, mut at, mut in_text) = (String::new(), 0, 0, false);
    while let Some(byte) = bytes.get(at) {
        let (end, found) = match byte {
            b'\\' if in_text => escape(bytes, at),
            b'-' | b'0'..=b'9' if !in_text => number(bytes, at),
            _ => (at + 1, None),
        };
        in_text ^= *byte == b'"';
        if let Some(found) = found {
            out.push_str(&payload[kept..at]);
            let quote = if found == Unreadable::Number { "\"" } else { "" };
            out.extend([quote, marker]);
            out.push(found.letter());
            out.push_str(quote);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(payload);
    }
    out.push_str(&payload[kept..]);
    Cow::Owned(out)
}

/// The unsupported value in a result of a path, if any.
fn unreadable(value: &str, marker: &str) -> Option<&'static str> {
    let (_, rest) = value.split_once(marker)?;
    ALL.into_iter().find(|it| rest.starts_with(it.letter())).map(Unreadable::description)
}

/// Rejects a payload with unsupported values if the marker could change the result of a path.
pub fn reject_if_path_may_depend_on_it(mapping: &Mapping, payload: &str, marker: &str) -> Result<(), Error> {
    let Some(what) = unreadable(payload, marker) else { return Ok(()) };
    let Some(path) = mapping.paths().find(|path| is_selective(path)) else { return Ok(()) };
    let message = format!(
        "the payload has {what}, which PostgreSQL cannot store, and the path {path} may depend on it"
    );
    Err(Error::new(Code::InvalidValue, message).hint(
        "Ask the sender to omit it, or use a path that contains only names and positions, such as \
         $.lines[*].sku.",
    ))
}

/// Rejects unsupported values in the result of a path. Without a marker, there are none.
pub fn require_readable(
    values: &[String],
    marker: Option<&str>,
    path: &str,
    code: Code,
    pointer: &str,
) -> Result<(), Error> {
    let unreadable = |marker| values.iter().find_map(|value| unreadable(value, marker));
    let Some(what) = marker.and_then(unreadable) else {
        return Ok(());
    };
    let message = format!("the path {path} finds {what}, which PostgreSQL cannot store");
    Err(Error::at(code, pointer, message)
        .hint("Ask the sender to omit it, or remove the member from the mapping."))
}

/// Whether the result of a path can depend on other values: the path contains more than names, positions and `[*]`. A filter, a
/// method or a wildcard would see the marker instead of the value.
fn is_selective(path: &str) -> bool {
    let (mut in_text, mut before) = (false, ' ');
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => in_text = !in_text,
            '\\' => {
                characters.next();
            }
            _ if in_text => {}
            '*' if before == '[' => {}
            // A subtraction of other values than numbers is an error.
            '$' | '.' | '[' | ']' | ',' | '-' | '_' => {}
            _ if character.is_alphanumeric() || character.is_whitespace() => {}
            _ => return true,
        }
        if !character.is_whitespace() {
            before = character;
        }
    }
    false
}

/// The end of the escape at a backslash.
fn escape(bytes: &[u8], at: usize) -> (usize, Option<Unreadable>) {
    match code_unit(bytes, at) {
        None => (at + 2, None),
        Some(0) => (at + 6, Some(Unreadable::Zero)),
        Some(0xd800..=0xdbff) if matches!(code_unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => (at + 12, None),
        Some(0xd800..=0xdfff) => (at + 6, Some(Unreadable::Surrogate)),
        Some(_) => (at + 6, None),
    }
}

/// The code unit of `\uXXXX`.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The end of the number at this position.
fn number(bytes: &[u8], at: usize) -> (usize, Option<Unreadable>) {
    let count =
        |from: usize, is_part: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| is_part(byte)).count();
    let digits = at + usize::from(bytes[at] == b'-');
    let whole = count(digits, u8::is_ascii_digit);
    let mut end = digits + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = count(end + 1, u8::is_ascii_digit);
        end += 1 + fraction;
    }
    let mut exponent = 0;
    if let Some(b'e' | b'E') = bytes.get(end) {
        let length = count(end + 1, |byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'));
        let digits = std::str::from_utf8(&bytes[end + 1..end + 1 + length]).unwrap_or_default();
        let too_many = if digits.starts_with('-') { i32::MIN } else { i32::MAX };
        exponent = i64::from(digits.parse::<i32>().unwrap_or(too_many));
        end += 1 + length;
    }
    let is_readable =
        whole as i64 + exponent <= NUMERIC_DIGITS.0 && fraction as i64 - exponent <= NUMERIC_DIGITS.1;
    (end, (!is_readable).then_some(Unreadable::Number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::value;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    #[test]
    fn marker_replaces_only_unsupported_values() {
        for (sent, read) in [
            (r#"{"a":"x\u0000y"}"#, r#"{"a":"xM0y"}"#),
            (r#"{"\u0000":1}"#, r#"{"M0":1}"#),
            (r#"["\ud83d", "\ude00\ud83d\u0041"]"#, r#"["Ms", "MsMs\u0041"]"#),
            (r#"["\ud83d\ud83d\ude00"]"#, r#"["Ms\ud83d\ude00"]"#),
            ("[1e131072, -1E+999999, 1e-16384, 1e99999999999]", r#"["Mn", "Mn", "Mn", "Mn"]"#),
            ("[1e131071,1e-16383,0.5e1,-0]", "[1e131071,1e-16383,0.5e1,-0]"),
            (r#"["\ud83d\ude00", "\\u0000", "\\\\ud83d", "\"1e999999", "é\n"]"#, ""),
            (r#"{"a":"1e999999"}"#, ""),
        ] {
            let expected = if read.is_empty() { sent } else { read };
            assert_eq!(readable(sent, "M"), expected);
        }
        assert_eq!(readable(r#"["\\\u0000"]"#, "M"), r#"["\\M0"]"#);
        let (long, longer) = ("1".repeat(131_072), "1".repeat(131_073));
        assert_eq!(readable(&long, "M"), long);
        assert_eq!(readable(&longer, "M"), "\"Mn\"");
    }

    #[test]
    fn unsupported_value_in_a_result_is_named() {
        assert_eq!(unreadable(r#"{"a": "xM0"}"#, "M"), Some("a string with U+0000"));
        assert_eq!(unreadable(r#""Ms""#, "M"), Some("a string with an unpaired surrogate"));
        assert_eq!(unreadable(r#""Mn""#, "M"), Some("a number beyond the range of numeric"));
        assert_eq!(unreadable(r#""x""#, "M"), None);
    }

    #[test]
    fn path_of_names_and_positions_is_not_affected_by_the_marker() {
        for path in [
            "$",
            "$.a.b[*].c",
            "strict $.a[0, 2 to 5].b",
            "$.a[ * ]",
            "$.a[last - 1]",
            r#"$."first (name) * ?".x"#,
            r#"$."a\"?".b"#,
            "$.é",
            "$.a - $.b",
        ] {
            assert!(!is_selective(path), "{path}");
        }
        for path in [
            "$.a[*] ? (@.n > 0)",
            "$.a?(@ == 1)",
            "$.*",
            "$.**",
            "$.a.size()",
            "$.n * 2",
            "$.a + 1",
            "$.a == 1",
            "$.a[*].*",
            r#"$."?" ? (@ > 1)"#,
            "$ /* [*] */ .a",
        ] {
            assert!(is_selective(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn readable_payload_is_json_without_unsupported_escapes(json in value()) {
            let read = readable(&json, "k3yed");
            prop_assert!(serde_json::from_str::<&RawValue>(&read).is_ok(), "{read}");
            prop_assert_eq!(readable(&read, "k3yed"), read.clone());
            if !json.contains("\\u") && !json.contains(['e', 'E']) {
                prop_assert_eq!(&*read, json.as_str());
            }
        }
    }
}
