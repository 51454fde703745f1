//! The changes of a record's attributes.

use crate::error::Error;
use std::borrow::Cow;
use uuid::Uuid;

/// A value in the form its column takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// `text`.
    Text(Cow<'a, str>),
    /// `numeric`, by the digits the caller wrote.
    Number(Cow<'a, str>),
    /// `text[]`.
    List(Vec<Cow<'a, str>>),
    /// What PostgreSQL passes by value: the days of a date, the microseconds of a time, both since 2000-01-01.
    ByValue(i64),
    /// `uuid` of the target.
    Reference(Uuid),
    /// The target by its external key, still to be looked up.
    ReferenceByKey(Cow<'a, str>),
    /// The target by the text of this attribute of it, still to be looked up.
    ReferenceByText(i32, Cow<'a, str>),
}

impl Value<'_> {
    /// The same value, which borrows nothing.
    pub fn into_owned(self) -> Value<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Value::Null => Value::Null,
            Value::Text(text) => Value::Text(own(text)),
            Value::Number(digits) => Value::Number(own(digits)),
            Value::List(list) => Value::List(list.into_iter().map(own).collect()),
            Value::ByValue(value) => Value::ByValue(value),
            Value::Reference(id) => Value::Reference(id),
            Value::ReferenceByKey(key) => Value::ReferenceByKey(own(key)),
            Value::ReferenceByText(attribute, text) => Value::ReferenceByText(attribute, own(text)),
        }
    }

    /// Whether it is a reference whose target is still to be looked up.
    pub fn is_unresolved(&self) -> bool {
        matches!(self, Value::ReferenceByKey(_) | Value::ReferenceByText(..))
    }
}

/// One point of a metric's series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The measured value; always finite.
    pub value: f64,
    /// Microseconds since 2000-01-01T00:00:00Z; `None` means the time of the write.
    pub at: Option<i64>,
}

/// What a request does to one attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'a> {
    /// The attribute takes this value.
    Set(Value<'a>),
    /// The number grows by this much; absent counts as 0.
    Increment(Cow<'a, str>),
    /// The points join the metric's series.
    Append(Vec<Point>),
    /// A value that a record may keep and that no record may get: unless the record has it, this is the error.
    Keep(Value<'a>, Box<Error>),
}

impl Change<'_> {
    /// The same change, which borrows nothing.
    pub fn into_owned(self) -> Change<'static> {
        match self {
            Change::Set(value) => Change::Set(value.into_owned()),
            Change::Increment(digits) => Change::Increment(Cow::Owned(digits.into_owned())),
            Change::Append(points) => Change::Append(points),
            Change::Keep(value, error) => Change::Keep(value.into_owned(), error),
        }
    }
}

/// What a request does to a record's attributes: position among the template's attributes, and change.
pub type Changes<'a> = Vec<(usize, Change<'a>)>;
