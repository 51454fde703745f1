//! Members of JSON objects in requests.

use crate::error::{Code, Error};
use crate::json;
use serde_json::value::RawValue;

/// The string at `pointer`, or an error that says a string is wanted.
pub fn text_at(value: &RawValue, pointer: &str) -> Result<String, Error> {
    Ok(json::text_at(value, pointer)?.into_owned())
}

/// The error for a member that the definition does not know.
pub fn unknown_member(name: &str, pointer: &str) -> Error {
    Error::at(Code::UnknownField, pointer, format!("{name:?} is an unknown member"))
}

/// The error for a member that must be there.
pub fn missing(name: &str, pointer: &str) -> Error {
    Error::at(Code::InvalidValue, format!("{pointer}/{name}"), format!("{name} is missing"))
}

/// The maximum number of characters of a label.
const LONGEST_LABEL: usize = 255;

/// Reads a label: a string, or null for none.
pub fn parse_label(value: &RawValue, pointer: &str) -> Result<Option<String>, Error> {
    let label = if json::is_null(value) { None } else { Some(text_at(value, pointer)?) };
    check_label(label, pointer)
}

/// Refuses a label that is too long.
pub fn check_label(label: Option<String>, pointer: &str) -> Result<Option<String>, Error> {
    if label.as_ref().is_some_and(|label| label.chars().count() > LONGEST_LABEL) {
        let message = format!("a label has at most {LONGEST_LABEL} characters");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(label)
}
