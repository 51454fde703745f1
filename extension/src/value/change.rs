//! JSON → typed value, one attribute at a time: pure, exact, nothing coerced.

use super::time;
use crate::error::{Code, Error};
use crate::json;
use crate::limits;
use crate::value::attribute_type::AttributeType;
use crate::value::list_option::ListOption;
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// The most bytes an element of a list may have, so that a list fits an index.
pub const MAX_ELEMENT_BYTES: usize = 2000;
/// The most elements a list may have.
pub const MAX_LIST_ELEMENTS: usize = 10_000;
/// The most digits a number may be written with, and the largest exponent, so that `1e131071` cannot turn eight
/// bytes into a hundred thousand.
pub const MAX_NUMBER_DIGITS: usize = 1000;
const MAX_NUMBER_EXPONENT: i32 = 100;
/// The most points one write may append to one series.
pub const MAX_POINTS: usize = 10_000;

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
    /// `date`: days since 2000-01-01.
    Date(i32),
    /// `timestamptz`: microseconds since 2000-01-01T00:00:00Z.
    DateTime(i64),
    /// `uuid` of the target.
    Reference(Uuid),
    /// The target by its external key, still to be looked up.
    ReferenceByKey(Cow<'a, str>),
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
}

/// What a request does to a record's attributes: position among the template's attributes, and change.
pub type Changes<'a> = Vec<(usize, Change<'a>)>;

/// Reads what `raw` does to an attribute of type `kind`; `options` are a list's only allowed values.
pub fn parse<'a>(
    kind: AttributeType,
    options: Option<&[ListOption]>,
    raw: &'a RawValue,
    pointer: &str,
) -> Result<Change<'a>, Error> {
    if json::is_null(raw) {
        return Ok(Change::Set(Value::Null));
    }
    match kind {
        AttributeType::String => parse_text(raw, pointer).map(|text| Change::Set(Value::Text(text))),
        AttributeType::Number => parse_number_or_increment(raw, pointer),
        AttributeType::Metric => parse_points(raw, pointer).map(Change::Append),
        AttributeType::List => parse_list(options, raw, pointer).map(|list| Change::Set(Value::List(list))),
        AttributeType::Date => {
            let text = wanted_string(raw, pointer, "a date as a string, YYYY-MM-DD")?;
            time::parse_date(&text, pointer).map(|days| Change::Set(Value::Date(days)))
        }
        AttributeType::DateTime => {
            let text = wanted_string(raw, pointer, "a time as a string, RFC 3339 with offset")?;
            time::parse_datetime(&text, pointer).map(|at| Change::Set(Value::DateTime(at)))
        }
        AttributeType::Reference => parse_reference(raw, pointer).map(Change::Set),
    }
}

fn wanted_string<'a>(raw: &'a RawValue, pointer: &str, wanted: &str) -> Result<Cow<'a, str>, Error> {
    json::string_at(raw, pointer)?.ok_or_else(|| must_be(pointer, wanted))
}

fn must_be(pointer: &str, wanted: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("must be {wanted}"))
}

fn parse_text<'a>(raw: &'a RawValue, pointer: &str) -> Result<Cow<'a, str>, Error> {
    let text = wanted_string(raw, pointer, "a string")?;
    check_text_size(text.len(), pointer)?;
    Ok(text)
}

/// Refuses a text, or texts of a list together, of more bytes than `keyed.max_text_size` allows.
pub fn check_text_size(bytes: usize, pointer: &str) -> Result<(), Error> {
    let most = limits::text_bytes();
    if bytes > most {
        let message = format!("the text has {bytes} bytes: at most {most} are allowed");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

fn parse_number_or_increment<'a>(raw: &'a RawValue, pointer: &str) -> Result<Change<'a>, Error> {
    if raw.get().starts_with('{') {
        let members = json::object_at(raw, pointer)?.0;
        return match members.as_slice() {
            [(name, amount)] if name == "$inc" => {
                parse_number(amount, &format!("{pointer}/$inc")).map(Change::Increment)
            }
            _ => Err(must_be(pointer, "a number, or {\"$inc\": number}")),
        };
    }
    parse_number(raw, pointer).map(|digits| Change::Set(Value::Number(digits)))
}

/// The digits of a JSON number; its grammar was checked when the request was read.
fn parse_number<'a>(raw: &'a RawValue, pointer: &str) -> Result<Cow<'a, str>, Error> {
    let text = raw.get();
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Err(must_be(pointer, "a JSON number"));
    }
    check_number_size(text, pointer)?;
    Ok(Cow::Borrowed(text))
}

/// Refuses a number, in JSON's grammar, of more digits or a larger exponent than is good for anybody.
pub fn check_number_size(text: &str, pointer: &str) -> Result<(), Error> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let small = exponent.parse::<i32>().is_ok_and(|exponent| exponent.abs() <= MAX_NUMBER_EXPONENT);
    if mantissa.len() > MAX_NUMBER_DIGITS || !small {
        let message = format!(
            "a number has at most {MAX_NUMBER_DIGITS} digits and an exponent from -{MAX_NUMBER_EXPONENT} to {MAX_NUMBER_EXPONENT}"
        );
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

fn parse_points(raw: &RawValue, pointer: &str) -> Result<Vec<Point>, Error> {
    if !raw.get().starts_with('[') {
        return Ok(vec![parse_point(raw, pointer)?]);
    }
    let entries = json::array_at(raw, pointer)?;
    if entries.len() > MAX_POINTS {
        let message = format!("one write appends at most {MAX_POINTS} points, not {}", entries.len());
        return Err(Error::at(Code::PayloadTooLarge, pointer, message));
    }
    let read = |(position, entry)| parse_point(entry, &format!("{pointer}/{position}"));
    entries.into_iter().enumerate().map(read).collect()
}

fn parse_point(raw: &RawValue, pointer: &str) -> Result<Point, Error> {
    if !raw.get().starts_with('{') {
        return Ok(Point { value: parse_double(raw, pointer)?, at: None });
    }
    let (mut value, mut at) = (None, None);
    for (name, member) in &json::object_at(raw, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "value" => value = Some(parse_double(member, &here)?),
            "at" => {
                let text = wanted_string(member, &here, "a time as a string, RFC 3339 with offset")?;
                at = Some(time::parse_datetime(&text, &here)?);
            }
            _ => return Err(Error::at(Code::UnknownField, here, "a point has value and at, nothing else")),
        }
    }
    let value = value.ok_or_else(|| must_be(&format!("{pointer}/value"), "a JSON number"))?;
    Ok(Point { value, at })
}

fn parse_double(raw: &RawValue, pointer: &str) -> Result<f64, Error> {
    if !raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Err(must_be(pointer, "a JSON number, {value, at}, or an array of these"));
    }
    match raw.get().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::at(Code::InvalidValue, pointer, "is too large for a metric (double precision)")),
    }
}

fn parse_list<'a>(
    options: Option<&[ListOption]>,
    raw: &'a RawValue,
    pointer: &str,
) -> Result<Vec<Cow<'a, str>>, Error> {
    const WANTED: &str = "an array of strings, or one string";
    if let Some(single) = json::string_at(raw, pointer)? {
        check_element_size(single.len(), pointer)?;
        check_option(options, &single, pointer)?;
        return Ok(vec![single]);
    }
    if !raw.get().starts_with('[') {
        return Err(must_be(pointer, WANTED));
    }
    let entries = json::array_at(raw, pointer)?;
    if entries.len() > MAX_LIST_ELEMENTS {
        let message = format!("a list has at most {MAX_LIST_ELEMENTS} elements, not {}", entries.len());
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let mut list = Vec::with_capacity(entries.len());
    for (position, entry) in entries.into_iter().enumerate() {
        let here = format!("{pointer}/{position}");
        let element = json::string_at(entry, &here)?.ok_or_else(|| must_be(&here, "a string"))?;
        check_element_size(element.len(), &here)?;
        check_option(options, &element, &here)?;
        list.push(element);
    }
    check_text_size(list.iter().map(|element| element.len()).sum(), pointer)?;
    Ok(list)
}

/// Refuses a list element of more than 2000 bytes.
pub fn check_element_size(bytes: usize, pointer: &str) -> Result<(), Error> {
    if bytes > MAX_ELEMENT_BYTES {
        let message = format!("the element has {bytes} bytes: at most {MAX_ELEMENT_BYTES} are allowed");
        return Err(Error::at(Code::InvalidValue, pointer, message)
            .hint("longer texts belong into a string attribute"));
    }
    Ok(())
}

/// Refuses a list element that is not one of the attribute's options.
pub fn check_option(options: Option<&[ListOption]>, element: &str, pointer: &str) -> Result<(), Error> {
    match options {
        Some(options) if !options.iter().any(|option| option.value == element) => {
            let shown: Vec<&str> = options.iter().take(20).map(|option| option.value.as_str()).collect();
            let more = if options.len() > shown.len() { ", …" } else { "" };
            Err(Error::at(Code::InvalidValue, pointer, format!("{element:?} is not one of the options"))
                .hint(format!("the options are {}{more}", shown.join(", "))))
        }
        _ => Ok(()),
    }
}

fn parse_reference<'a>(raw: &'a RawValue, pointer: &str) -> Result<Value<'a>, Error> {
    const WANTED: &str = "a record id as a string, or {\"external_key\": \"…\"}";
    if let Some(text) = json::string_at(raw, pointer)? {
        return Uuid::parse_str(&text).map(Value::Reference).map_err(|_| must_be(pointer, WANTED));
    }
    if !raw.get().starts_with('{') {
        return Err(must_be(pointer, WANTED));
    }
    let members = json::object_at(raw, pointer)?.0;
    let [(name, key)] = members.as_slice() else { return Err(must_be(pointer, WANTED)) };
    if name != "external_key" {
        return Err(must_be(pointer, WANTED));
    }
    let here = format!("{pointer}/external_key");
    let key = wanted_string(key, &here, "a string")?;
    let normalized =
        crate::value::key::normalize(&key).map_err(|error| Error::at(error.code, here, error.message))?;
    Ok(Value::ReferenceByKey(match &key {
        Cow::Borrowed(whole) => {
            let start = normalized.as_ptr() as usize - whole.as_ptr() as usize;
            Cow::Borrowed(&whole[start..start + normalized.len()])
        }
        Cow::Owned(_) => Cow::Owned(normalized.to_owned()),
    }))
}
