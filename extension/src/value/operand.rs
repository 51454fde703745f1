//! A single value of a condition: its form in the request, and its meaning.

use crate::error::{Code, Error};
use crate::value::constant::Constant;
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// A single value.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its place in the request (RFC 6901).
    pub pointer: String,
    /// What was sent.
    pub sent: Sent,
}

/// A value in the form it was sent in.
#[derive(Clone, Debug)]
pub enum Sent {
    /// The text of a JSON string, or a part of such a text.
    Text(String),
    /// JSON of any other kind, null excepted.
    Json(Box<RawValue>),
    /// The same, inside a text: no pointer leads into it.
    JsonInText(Box<RawValue>),
}

/// The meaning of a single value.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Itself.
    Constant(Constant),
    /// Any time of this day, in days since 2000-01-01.
    Day(i32),
    /// The live record that holds this external key.
    Key(String),
}

impl Operand {
    /// The text, if it is one.
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

    /// The record id that it is.
    pub fn id(&self) -> Option<Uuid> {
        Uuid::parse_str(self.text()?).ok()
    }

    /// The refusal that says what is wanted.
    pub fn must_be(&self, wanted: &str) -> Error {
        let message = match &self.sent {
            Sent::Text(text) => format!("must be {wanted}, not {}", quoted(text)),
            Sent::Json(_) | Sent::JsonInText(_) => format!("must be {wanted}"),
        };
        Error::at(Code::InvalidValue, &self.pointer, message)
    }
}

/// What was sent, as a message quotes it: short enough that the rest of the message is still read.
pub fn quoted(text: &str) -> String {
    const MAX: usize = 80;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
