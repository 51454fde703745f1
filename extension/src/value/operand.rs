//! Operands of conditions: their form in a request, and their meaning.

use crate::error::{Code, Error};
use crate::value::constant::Constant;
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// An operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its JSON pointer in the request (RFC 6901).
    pub pointer: String,
    /// Its form in the request.
    pub sent: Sent,
}

/// The form of an operand in a request.
#[derive(Clone, Debug)]
pub enum Sent {
    /// The text of a JSON string, or a substring of it.
    Text(String),
    /// JSON of any other type except null.
    Json(Box<RawValue>),
    /// The same within a string, so that no pointer can refer to its parts.
    JsonInText(Box<RawValue>),
}

/// The meaning of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// A constant.
    Constant(Constant),
    /// Any time of this day, in days since 2000-01-01.
    Day(i32),
    /// The live record with this external key.
    Key(String),
}

impl Operand {
    /// The text, if the operand is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.sent {
            Sent::Text(text) => Some(text),
            Sent::Json(_) | Sent::JsonInText(_) => None,
        }
    }

    /// The JSON, whether sent as such or in a string.
    pub fn json(&self) -> Option<Cow<'_, str>> {
        match &self.sent {
            Sent::Json(json) | Sent::JsonInText(json) => Some(Cow::Borrowed(json.get())),
            Sent::Text(text) => serde_json::from_str::<&RawValue>(text).ok().map(|json| json.get().into()),
        }
    }

    /// The record id, if the operand is one.
    pub fn id(&self) -> Option<Uuid> {
        Uuid::parse_str(self.text()?).ok()
    }

    /// The error that names the expected form.
    pub fn must_be(&self, expected: &str) -> Error {
        let message = match &self.sent {
            Sent::Text(text) => format!("must be {expected}, not {}", quoted(text)),
            Sent::Json(_) | Sent::JsonInText(_) => format!("must be {expected}"),
        };
        Error::at(Code::InvalidValue, &self.pointer, message)
    }
}

/// A quoted text for a message, truncated if it is long.
pub fn quoted(text: &str) -> String {
    const MAX: usize = 80;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
