//! Options of list attributes. Pure.

use crate::error::{Code, Error};
use crate::value::member::{missing, parse_label, text_at, unknown_member};
use crate::{json, json_write};
use serde::Serialize;
use serde_json::value::RawValue;

/// The maximum number of options of a list attribute.
const MAX_OPTIONS: usize = 1000;

/// An allowed value of a list attribute, and its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListOption {
    /// The stored value.
    pub value: String,
    /// The displayed text.
    pub label: String,
}

/// Reads list options: an array of strings or of `{value, label}`, or null for any value.
pub fn parse(value: &RawValue, pointer: &str) -> Result<Option<Vec<ListOption>>, Error> {
    if json::is_null(value) {
        return Ok(None);
    }
    let entries = json::array_at(value, pointer)?;
    if entries.is_empty() || entries.len() > MAX_OPTIONS {
        let message = format!("a list has 1 to {MAX_OPTIONS} options");
        return Err(Error::at(Code::InvalidValue, pointer, message).hint("Omit options to allow any value."));
    }
    let mut options: Vec<ListOption> = Vec::with_capacity(entries.len());
    for (position, entry) in entries.into_iter().enumerate() {
        let here = format!("{pointer}/{position}");
        let option = parse_option(entry, &here)?;
        if options.iter().any(|earlier| earlier.value == option.value) {
            return Err(Error::at(Code::InvalidValue, here, format!("{:?} is listed twice", option.value)));
        }
        options.push(option);
    }
    Ok(Some(options))
}

fn parse_option(entry: &RawValue, pointer: &str) -> Result<ListOption, Error> {
    if let Some(value) = json::string_at(entry, pointer)? {
        let value = value.into_owned();
        return Ok(ListOption { label: value.clone(), value });
    }
    let (mut value, mut label) = (None, None);
    for (name, member) in &json::object_at(entry, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "value" => value = Some(text_at(member, &here)?),
            "label" => label = parse_label(member, &here)?,
            _ => return Err(unknown_member(name, &here).hint("Use the members value and label.")),
        }
    }
    let value = value.ok_or_else(|| missing("value", pointer))?;
    Ok(ListOption { label: label.unwrap_or_else(|| value.clone()), value })
}

/// List options as JSON: `[{value, label}]`.
pub fn to_json(options: &[ListOption]) -> String {
    json_write::to_json(&options)
}
