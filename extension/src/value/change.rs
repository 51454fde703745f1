//! Changes of a record's attributes.

use crate::error::Error;
use std::borrow::Cow;
use uuid::Uuid;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// `text`.
    Text(Cow<'a, str>),
    /// `numeric`, as the digits of the request.
    Number(Cow<'a, str>),
    /// `text[]`.
    List(Vec<Cow<'a, str>>),
    /// A type passed by value: `boolean`, or a date or time as days or microseconds since 2000-01-01.
    ByValue(i64),
    /// The `uuid` of the target.
    Reference(Uuid),
    /// The external key of a target that was not looked up yet.
    ReferenceByKey(Cow<'a, str>),
    /// A string in this attribute of a target that was not looked up yet.
    ReferenceByText(i32, Cow<'a, str>),
}

impl Value<'_> {
    /// The same value without borrows.
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

    /// Whether this is a reference whose target was not looked up yet.
    pub fn is_unresolved(&self) -> bool {
        matches!(self, Value::ReferenceByKey(_) | Value::ReferenceByText(..))
    }
}

/// One point of a metric's series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The measured value, which is finite.
    pub value: f64,
    /// The time in microseconds since 2000-01-01T00:00:00Z; `None` is the time of the write.
    pub at: Option<i64>,
}

/// The change of one attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'a> {
    /// Sets the value.
    Set(Value<'a>),
    /// Adds to the number; null counts as 0.
    Increment(Cow<'a, str>),
    /// Appends points to the metric's series.
    Append(Vec<Point>),
    /// Keeps a value that is no longer valid. If the record has another value, this is the error.
    Keep(Value<'a>, Box<Error>),
}

impl Change<'_> {
    /// The same change without borrows.
    pub fn into_owned(self) -> Change<'static> {
        match self {
            Change::Set(value) => Change::Set(value.into_owned()),
            Change::Increment(digits) => Change::Increment(Cow::Owned(digits.into_owned())),
            Change::Append(points) => Change::Append(points),
            Change::Keep(value, error) => Change::Keep(value.into_owned(), error),
        }
    }
}

/// The changes of a record: positions of the template's attributes, and their changes.
pub type Changes<'a> = Vec<(usize, Change<'a>)>;
