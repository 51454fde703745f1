//! The external key in a request.

use crate::error::{Code, Error};
use crate::json;
use crate::value::key;
use serde_json::value::RawValue;

/// The member `external_key`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// The member is absent.
    #[default]
    Absent,
    /// Null.
    Null,
    /// A normalized key.
    Value(String),
}

impl Key {
    /// The key, if there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Key::Value(key) => Some(key),
            Key::Absent | Key::Null => None,
        }
    }
}

/// Parses the member `external_key` of a body: a string, or null.
pub fn parse_key(value: &RawValue) -> Result<Key, Error> {
    if json::is_null(value) {
        return Ok(Key::Null);
    }
    if !value.get().starts_with('"') {
        return Err(Error::at(Code::InvalidExternalKey, "/external_key", "external_key must be a string")
            .hint("Send numbers as strings, such as \"42\"."));
    }
    let text: std::borrow::Cow<str> = serde_json::from_str(value.get()).map_err(|error| {
        Error::new(Code::MalformedRequest, format!("external_key cannot be read: {error}"))
    })?;
    key::normalize(&text).map(|key| Key::Value(key.to_owned()))
}
