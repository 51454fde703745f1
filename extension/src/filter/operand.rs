//! Parses the value of a condition to operands.
//!
//! A list of values is a JSON array, a string with a JSON array, or a comma-separated string. In the latter, spaces around
//! values are ignored. A quoted value can contain commas, and doubled quotes as in RFC 4180:
//! `red, "dark, blue", "27"" wheels"`.

use crate::error::{Code, Error};
use crate::json;
use crate::value::member::missing;
use crate::value::operand::{Operand, Sent};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum number of values of a condition.
pub const MAX_VALUES: usize = 1000;

/// The value of an operator that takes one value.
pub fn single(value: Option<&RawValue>, condition: &str) -> Result<Operand, Error> {
    let (value, pointer) = given(value, condition)?;
    if value.get().starts_with('[') {
        return Err(Error::at(Code::InvalidValue, pointer, "must be a single value, not an array")
            .hint("Use in or not-in for several values."));
    }
    read(value, pointer)
}

/// The values of an operator that takes several.
pub fn list(value: Option<&RawValue>, condition: &str) -> Result<Vec<Operand>, Error> {
    let (value, pointer) = given(value, condition)?;
    if value.get().starts_with('[') {
        let entries = json::array_at_most(value, MAX_VALUES + 1, &pointer)?;
        check_count(entries.len(), &pointer)?;
        let pointers = (0..).map(|position| format!("{pointer}/{position}"));
        return entries.into_iter().zip(pointers).map(|(entry, pointer)| read(entry, pointer)).collect();
    }
    match read(value, pointer)? {
        Operand { pointer, sent: Sent::Text(text) } => split(&text, &pointer),
        other => Ok(vec![other]),
    }
}

/// The two values of `between`.
pub fn pair(value: Option<&RawValue>, condition: &str) -> Result<[Operand; 2], Error> {
    let operands = list(value, condition)?;
    let count = operands.len();
    <[Operand; 2]>::try_from(operands).map_err(|_| {
        let message = format!("must be two values, lower and upper bound, not {count}");
        Error::at(Code::InvalidValue, pointer_of(condition), message)
            .hint("Write [1, 5] or \"1,5\". For a range that is open on one side, use gte or lte.")
    })
}

/// Rejects a value for an operator that takes none. Null and an empty string count as no value.
pub fn none(value: Option<&RawValue>, condition: &str) -> Result<(), Error> {
    match value.map(RawValue::get) {
        None | Some("null" | "\"\"") => Ok(()),
        Some(_) => {
            Err(Error::at(Code::InvalidValue, pointer_of(condition), "this operator takes no value: omit it"))
        }
    }
}

/// Like [`none`], for `empty` and `not-empty`. Any string counts as no value, because many clients send one with each
/// condition. "false" is rejected, because the client may mean the opposite.
pub fn none_or_text(value: Option<&RawValue>, condition: &str) -> Result<(), Error> {
    match value.map(RawValue::get) {
        None | Some("null") => Ok(()),
        Some(text) if text.starts_with('"') && !text.eq_ignore_ascii_case("\"false\"") => Ok(()),
        Some(_) => {
            let message = "this operator takes no value: omit it, or send a string other than \"false\"";
            Err(Error::at(Code::InvalidValue, pointer_of(condition), message)
                .hint("Use not-empty for the opposite of empty."))
        }
    }
}

fn pointer_of(condition: &str) -> String {
    format!("{condition}/value")
}

fn given<'a>(value: Option<&'a RawValue>, condition: &str) -> Result<(&'a RawValue, String), Error> {
    match value {
        Some(value) => Ok((value, pointer_of(condition))),
        None => Err(missing("value", condition)),
    }
}

fn read(value: &RawValue, pointer: String) -> Result<Operand, Error> {
    if json::is_null(value) {
        let message = "a comparison with null is not possible: use the operator empty or not-empty";
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let sent = match json::string_at(value, &pointer)? {
        Some(text) => Sent::Text(text.into_owned()),
        None => Sent::Json(value.to_owned()),
    };
    Ok(Operand { pointer, sent })
}

/// Splits a string into several values, which have the pointer of the string.
fn split(text: &str, pointer: &str) -> Result<Vec<Operand>, Error> {
    let operand = |sent| Operand { pointer: pointer.to_owned(), sent };
    let trimmed = text.trim_matches(' ');
    if trimmed.starts_with('[') {
        let syntax_error = || {
            Error::at(Code::InvalidValue, pointer, "looks like a JSON array but does not parse")
                .hint("Put a value that begins with [ in double quotes.")
        };
        let array: &RawValue = serde_json::from_str(trimmed).map_err(|_| syntax_error())?;
        let entries = json::array_at_most(array, MAX_VALUES + 1, pointer)?;
        check_count(entries.len(), pointer)?;
        return entries
            .into_iter()
            .map(|entry| match read(entry, pointer.to_owned()) {
                Ok(Operand { sent: Sent::Json(json), .. }) => Ok(operand(Sent::JsonInText(json))),
                Err(error) if error.code == Code::MalformedRequest => Err(syntax_error()),
                other => other,
            })
            .collect();
    }
    // An object in a string, which identifies a record by its key, is one value.
    if trimmed.starts_with('{')
        && let Ok(object) = serde_json::from_str(trimmed)
    {
        return Ok(vec![operand(Sent::JsonInText(object))]);
    }
    let values = split_at_commas(text)
        .take(MAX_VALUES + 1)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|message| Error::at(Code::InvalidValue, pointer, message))?;
    check_count(values.len(), pointer)?;
    Ok(values.into_iter().map(|value| operand(Sent::Text(value.into_owned()))).collect())
}

fn check_count(count: usize, pointer: &str) -> Result<(), Error> {
    if count > MAX_VALUES {
        let message = format!("a condition has at most {MAX_VALUES} values");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

/// The comma-separated values, up to the first error.
fn split_at_commas(text: &str) -> impl Iterator<Item = Result<Cow<'_, str>, &'static str>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let from = rest.take()?.trim_start_matches(' ');
        let value = match from.strip_prefix('"') {
            Some(inside) => quoted_value(inside),
            None => {
                let (value, more) = match from.split_once(',') {
                    Some((value, more)) => (value, Some(more)),
                    None => (from, None),
                };
                Ok((Cow::Borrowed(value.trim_end_matches(' ')), more))
            }
        };
        Some(value.and_then(|(value, more)| {
            if value.is_empty() && !from.starts_with('"') {
                return Err("contains an empty value: write \"\" for the empty string, or [] for no values");
            }
            rest = more;
            Ok(value)
        }))
    })
}

/// The value before the closing quote, and the text after the next comma.
fn quoted_value(inside: &str) -> Result<(Cow<'_, str>, Option<&str>), &'static str> {
    let mut from = 0;
    while let Some(quote) = inside[from..].find('"').map(|at| from + at) {
        if inside[quote + 1..].starts_with('"') {
            from = quote + 2;
            continue;
        }
        let value = match &inside[..quote] {
            plain if from == 0 => Cow::Borrowed(plain),
            doubled => Cow::Owned(doubled.replace("\"\"", "\"")),
        };
        let after = inside[quote + 1..].trim_start_matches(' ');
        return match after.strip_prefix(',') {
            Some(more) => Ok((value, Some(more))),
            None if after.is_empty() => Ok((value, None)),
            None => Err("has text after a closing quote: double quotes inside a quoted value"),
        };
    }
    Err("has an unterminated quote")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Result<Vec<String>, &'static str> {
        split_at_commas(text).map(|value| value.map(Cow::into_owned)).collect()
    }

    #[test]
    fn quoted_value_may_contain_commas() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("a, b ,c d", vec!["a", "b", "c d"]),
            (r#""a, b", "27"" wheels" ,"""","" "#, vec!["a, b", "27\" wheels", "\"", ""]),
            (r#"12" disc,7" disc"#, vec!["12\" disc", "7\" disc"]),
            ("\" a \",\u{a0}b", vec![" a ", "\u{a0}b"]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(values(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn missing_or_unterminated_value_is_rejected() {
        for text in ["", " ", "a,", ",a", "a,,b", "\"a", "\"a\"\"", "\"a\" b"] {
            assert!(values(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn quoted_values_round_trip(texts in prop::collection::vec(any::<String>(), 1..6)) {
            let quoted: Vec<String> =
                texts.iter().map(|text| format!("\"{}\"", text.replace('"', "\"\""))).collect();
            prop_assert_eq!(values(&quoted.join(",")), Ok(texts));
        }
    }
}
