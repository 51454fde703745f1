//! Writing of JSON: whole values, and strings and numbers that are appended for records.

use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// Serializes a value. Records are not serialized so: their members are appended without an intermediate structure.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a structure with named members is written to memory")
}

/// Stored JSON text, to be written unchanged; `None` if it is not JSON.
pub fn raw(json: &str) -> Option<&RawValue> {
    serde_json::from_str(json).ok()
}

/// Appends `text` as a JSON string.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (position, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[plain_from..position]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain_from = position + 1;
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

/// Appends a double in the shortest form that reads back, or null if it is not finite.
pub fn write_double(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push_str("null");
        return;
    }
    let start = out.len();
    let _ = write!(out, "{value:?}");
    if out[start..].ends_with(".0") {
        out.truncate(out.len() - 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn string_round_trips(text in any::<String>()) {
            let mut out = String::new();
            write_string(&mut out, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&out).ok(), Some(text));
        }
    }
}
