//! Single values → constants of the field's type: exact, checked, nothing coerced.

use super::faults::quoted;
use super::field::Column;
use super::operand::{Operand, Sent};
use super::range::Point;
use crate::error::{Code, Error};
use crate::json_write::write_double;
use crate::value::attribute_type::AttributeType;
use crate::value::change::{self, Change, Value};
use crate::value::list_option::ListOption;
use crate::value::quote::literal;
use crate::value::{key, time};
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

const A_RECORD_ID: &str = "a record id as a string";

/// A value that SQL can compare a column with.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `text`.
    Text(String),
    /// `numeric`, by its digits.
    Number(String),
    /// `double precision`.
    Double(f64),
    /// `date`: days since 2000-01-01.
    Date(i32),
    /// `timestamptz`: microseconds since 2000-01-01T00:00:00Z.
    Instant(i64),
    /// `timestamptz`: when this day, counted as in `Date`, begins in the time zone of the request.
    Midnight(i32),
    /// `uuid`.
    Id(Uuid),
}

/// What a single value stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Itself, or a day.
    Point(Point),
    /// The live record that holds this external key.
    Key(String),
}

/// The last microsecond of a day, as PostgreSQL counts.
pub const LAST_MOMENT: &str = "23:59:59.999999";

/// When the day after begins: one microsecond behind the last one of a day. Midnight itself would not do, since where
/// clocks are moved at midnight it comes twice or not at all; the moment before it is there, and the later of two is
/// the one before the new day.
pub fn midnight_after(last_moment: &str, time_zone: &str) -> String {
    format!("({last_moment} at time zone {time_zone} + '0.000001 s'::interval)")
}

impl Constant {
    /// As a quoted literal whose type the context decides, except for a time that PostgreSQL has to work out;
    /// `time_zone` is a literal already.
    pub fn untyped(&self, time_zone: &str) -> String {
        let mut text = String::new();
        match self {
            Constant::Text(text) | Constant::Number(text) => return literal(text),
            Constant::Double(number) => write_double(&mut text, *number),
            Constant::Date(days) => time::write_date(&mut text, *days),
            Constant::Instant(at) => time::write_datetime(&mut text, *at),
            Constant::Midnight(days) => {
                time::write_date(&mut text, *days - 1);
                let last_moment = match *days == *time::DATE_RANGE.start() {
                    // There is no year 0.
                    true => format!("'0001-12-31 {LAST_MOMENT} BC'::timestamp"),
                    false => format!("'{text} {LAST_MOMENT}'::timestamp"),
                };
                return midnight_after(&last_moment, time_zone);
            }
            Constant::Id(id) => text = id.hyphenated().to_string(),
        }
        literal(&text)
    }

    /// As an expression of its own type.
    pub fn typed(&self, time_zone: &str) -> String {
        let sql = self.untyped(time_zone);
        match self {
            Constant::Text(_) | Constant::Midnight(_) => sql,
            Constant::Number(_) => format!("{sql}::numeric"),
            Constant::Double(_) => format!("{sql}::double precision"),
            Constant::Date(_) => format!("{sql}::date"),
            Constant::Instant(_) => format!("{sql}::timestamptz"),
            Constant::Id(_) => format!("{sql}::uuid"),
        }
    }
}

/// Reads a value that a column may be equal to; `options` are a list's only values.
pub fn read(column: &Column, options: Option<&[ListOption]>, operand: &Operand) -> Result<Meaning, Error> {
    match column {
        Column::Attribute { kind: AttributeType::Reference, .. } => reference(operand),
        _ => point(column, options, operand).map(Meaning::Point),
    }
}

/// Reads a value that stands for itself, or for a day: on a field of times, a date does.
pub fn point(column: &Column, options: Option<&[ListOption]>, operand: &Operand) -> Result<Point, Error> {
    let constant = match (column, column.kind()) {
        (Column::ExternalKey, _) => Constant::Text(external_key(operand)?),
        (_, AttributeType::Reference) => {
            Constant::Id(id(operand).ok_or_else(|| must_be(operand, A_RECORD_ID))?)
        }
        (_, AttributeType::DateTime) => return moment(operand),
        (_, AttributeType::Date) => {
            let text = text_of(operand).ok_or_else(|| must_be(operand, "a date as a string, YYYY-MM-DD"))?;
            Constant::Date(time::parse_date(text, &operand.pointer)?)
        }
        (_, AttributeType::String) => Constant::Text(text(operand)?),
        (_, AttributeType::List) => {
            let element = text(operand)?;
            change::check_element_size(element.len(), &operand.pointer)?;
            change::check_option(options, &element, &operand.pointer)?;
            Constant::Text(element)
        }
        (Column::Attribute { exact: true, .. }, AttributeType::Number) => number(operand)?,
        (_, AttributeType::Number | AttributeType::Metric) => double(operand)?,
    };
    Ok(Point::At(constant))
}

/// Reads a text: only a string is one.
pub fn text(operand: &Operand) -> Result<String, Error> {
    let text = text_of(operand).ok_or_else(|| must_be(operand, "a string"))?;
    change::check_text_size(text.len(), &operand.pointer)?;
    Ok(text.to_owned())
}

/// Reads the number of a template, which answers write as a string.
pub fn template_id(operand: &Operand) -> Result<String, Error> {
    let text = match &operand.sent {
        Sent::Text(text) => text.as_str(),
        Sent::Json(json) | Sent::JsonInText(json) => json.get(),
    };
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(text.to_owned()) } else { Err(must_be(operand, "the number of a template")) }
}

fn text_of(operand: &Operand) -> Option<&str> {
    match &operand.sent {
        Sent::Text(text) => Some(text),
        Sent::Json(_) | Sent::JsonInText(_) => None,
    }
}

fn must_be(operand: &Operand, wanted: &str) -> Error {
    let message = match &operand.sent {
        Sent::Text(text) => format!("must be {wanted}, not {}", quoted(text)),
        Sent::Json(_) | Sent::JsonInText(_) => format!("must be {wanted}"),
    };
    Error::at(Code::InvalidValue, &operand.pointer, message)
}

/// A key as it is stored: who looks for a key with spaces around it means the one without.
fn external_key(operand: &Operand) -> Result<String, Error> {
    let text = text_of(operand).ok_or_else(|| must_be(operand, "a string"))?;
    let normalized = key::normalize(text);
    let normalized = normalized.map_err(|error| Error::at(error.code, &operand.pointer, error.message))?;
    Ok(normalized.to_owned())
}

/// The digits of a number, whether sent as JSON or as a string; JSON's grammar holds for both.
fn digits(operand: &Operand) -> Result<Cow<'_, str>, Error> {
    let number = match &operand.sent {
        Sent::Json(json) | Sent::JsonInText(json) => Some(Cow::Borrowed(json.get())),
        Sent::Text(text) => serde_json::from_str::<&RawValue>(text).ok().map(|json| json.get().into()),
    };
    number
        .filter(|text| text.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
        .ok_or_else(|| must_be(operand, "a number such as 12.50"))
}

fn number(operand: &Operand) -> Result<Constant, Error> {
    let digits = digits(operand)?;
    change::check_number_size(&digits, &operand.pointer)?;
    Ok(Constant::Number(digits.into_owned()))
}

fn double(operand: &Operand) -> Result<Constant, Error> {
    match digits(operand)?.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Constant::Double(number)),
        _ => {
            let message = "is too large for this field (double precision)";
            Err(Error::at(Code::InvalidValue, &operand.pointer, message))
        }
    }
}

fn moment(operand: &Operand) -> Result<Point, Error> {
    let read = text_of(operand).and_then(|text| match text.len() {
        10 => time::parse_date(text, "").ok().map(Point::Day),
        _ => time::parse_datetime(text, "").ok().map(|at| Point::At(Constant::Instant(at))),
    });
    read.ok_or_else(|| {
        must_be(operand, "a time with offset or a date, as a string")
            .hint("write RFC 3339, for example 2024-02-29T13:45:00Z, or for a whole day 2024-02-29")
    })
}

fn id(operand: &Operand) -> Option<Uuid> {
    Uuid::parse_str(text_of(operand)?).ok()
}

fn reference(operand: &Operand) -> Result<Meaning, Error> {
    if let Some(id) = id(operand) {
        return Ok(Meaning::Point(Point::At(Constant::Id(id))));
    }
    let refuse = || must_be(operand, "a record id as a string, or {\"external_key\": \"…\"}");
    let inside = match &operand.sent {
        Sent::Json(json) => return by_key(json, &operand.pointer),
        Sent::JsonInText(json) => json.get(),
        Sent::Text(text) => text.as_str(),
    };
    let json: &RawValue = serde_json::from_str(inside).map_err(|_| refuse())?;
    // A fault inside of a text is a fault of the text, and of its value at that.
    by_key(json, "").map_err(|error| match error.code {
        Code::InvalidExternalKey => Error::at(error.code, &operand.pointer, error.message),
        _ => refuse(),
    })
}

/// As a record is written: the same forms, the same rules.
fn by_key(json: &RawValue, pointer: &str) -> Result<Meaning, Error> {
    match change::parse(AttributeType::Reference, None, json, pointer)? {
        Change::Set(Value::ReferenceByKey(key)) => Ok(Meaning::Key(key.into_owned())),
        _ => Err(Error::at(Code::InvalidValue, pointer, "must be {\"external_key\": \"…\"}")),
    }
}
