//! Members of JSON objects in requests.

use crate::error::{Code, Error};
use crate::json;
use serde_json::value::RawValue;

/// The string at `pointer`.
pub fn text_at(value: &RawValue, pointer: &str) -> Result<String, Error> {
    Ok(json::text_at(value, pointer)?.into_owned())
}

/// The error for an unknown member.
pub fn unknown_member(name: &str, pointer: &str) -> Error {
    Error::at(Code::UnknownField, pointer, format!("{name:?} is an unknown member"))
}

/// The error for a missing member.
pub fn missing(name: &str, pointer: &str) -> Error {
    Error::at(Code::InvalidValue, format!("{pointer}/{name}"), format!("{name} is missing"))
}

/// The maximum number of characters of a label.
const MAX_LABEL_LENGTH: usize = 255;

/// Reads a label: a string, or null for none.
pub fn parse_label(value: &RawValue, pointer: &str) -> Result<Option<String>, Error> {
    let label = if json::is_null(value) { None } else { Some(text_at(value, pointer)?) };
    check_label(label, pointer)
}

/// Rejects a label that is too long.
pub fn check_label(label: Option<String>, pointer: &str) -> Result<Option<String>, Error> {
    if label.as_ref().is_some_and(|label| label.chars().count() > MAX_LABEL_LENGTH) {
        let message = format!("a label has at most {MAX_LABEL_LENGTH} characters");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(label)
}
