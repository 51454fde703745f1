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

/// The maximum number of field names in a request: more than a template has fields.
pub const MAX_FIELD_NAMES: usize = 2000;

/// Reads names of fields: an array, or one string with commas, as in the query string of a lookup.
pub fn field_names_at(value: &RawValue, pointer: &str) -> Result<Vec<String>, Error> {
    let too_many = || Error::at(Code::InvalidValue, pointer, format!("at most {MAX_FIELD_NAMES} fields"));
    if let Some(text) = json::string_at(value, pointer)? {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.take(MAX_FIELD_NAMES + 1).map(str::to_owned).collect();
        return if names.len() > MAX_FIELD_NAMES { Err(too_many()) } else { Ok(names) };
    }
    let names = json::array_at_most(value, MAX_FIELD_NAMES + 1, pointer)?;
    if names.len() > MAX_FIELD_NAMES {
        return Err(too_many());
    }
    let names = names.into_iter().enumerate();
    names.map(|(index, name)| text_at(name, &format!("{pointer}/{index}"))).collect()
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
