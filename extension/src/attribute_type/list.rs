//! Lists of strings, with or without options.

use super::kind::{Family, Kind, Rules, cursor_text, json_in_cell, must_be};
use super::string;
use crate::error::{Code, Error};
use crate::json::{self, write_string};
use crate::limits;
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::file_format::{SEPARATOR, unguarded, write_list};
use crate::value::list_option::ListOption;
use crate::value::normal_form::composed;
use crate::value::operand::{Meaning, Operand};
use crate::value::quote::literal;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum size of an element, so that it fits in an index.
pub const MAX_ELEMENT_BYTES: usize = 2000;
/// The maximum number of elements.
pub const MAX_ELEMENTS: usize = 10_000;

/// `text[]`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "list";
    const COLUMN_TYPE: &'static str = "text[]";
    const OID: Oid = pg_sys::TEXTARRAYOID;
    /// PostgreSQL has no arrays of arrays, so a list is passed as text.
    const ARRAY_OID: Oid = pg_sys::TEXTARRAYOID;
    const FAMILY: Family = Family::List;
    const IS_TEXT: bool = true;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        parse(raw, rules)
    }

    /// Parses elements separated by `;`, ignoring surrounding spaces, or a JSON array.
    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        let (cell, pointer) = (unguarded(cell), rules.pointer);
        if cell.starts_with('[') {
            return Type::parse(json_in_cell(cell, pointer)?, rules);
        }
        let mut list: Vec<Cow<str>> = Vec::new();
        let mut other = None;
        for element in cell.split(SEPARATOR).map(|element| element.trim_matches(' ')) {
            if element.is_empty() {
                return Err(Error::at(Code::InvalidValue, pointer, "contains an empty element")
                    .hint("Write a;b, or an array in JSON: [\"a\",\"\"]."));
            }
            check_length(element, pointer)?;
            other = other.or_else(|| check_option(element, rules.options, pointer).err());
            list.push(Cow::Borrowed(element));
        }
        check_count(list.len(), pointer)?;
        check_size(list.iter().map(|element| element.len()), pointer)?;
        Ok(change(list, other))
    }

    fn parse_operand(operand: &Operand, rules: &Rules) -> Result<Meaning, Error> {
        let mut element = string::parse_operand(operand)?;
        check_length(&element, &operand.pointer)?;
        // Options are compared in NFC.
        if let Some(options) = rules.options.filter(|_| !element.is_ascii()) {
            let expected = composed(&element).into_owned();
            if let Some(option) = options.iter().find(|option| composed(&option.value) == expected) {
                element.clone_from(&option.value);
            }
        }
        check_option(&element, rules.options, &operand.pointer)?;
        Ok(Meaning::Constant(Constant::Text(element)))
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        check_count(datum::array_length(value), rules.pointer)?;
        let list = datum::read_text_array(value)
            .ok_or_else(|| must_be(rules.pointer, "a one-dimensional array without nulls"))?;
        check_size(list.iter().map(String::len), rules.pointer)?;
        list.iter().try_for_each(|element| {
            check_length(element, rules.pointer)?;
            check_option(element, rules.options, rules.pointer)
        })
    }

    fn check_replaced(old: Datum, new: Datum, rules: &Rules) -> Result<(), Error> {
        let Err(error) = Type::check_stored(new, rules) else { return Ok(()) };
        // An element that is no longer an option may stay.
        Type::check_stored(new, &Rules { options: None, ..*rules })?;
        let (old, new) = (datum::read_text_array(old), datum::read_text_array(new));
        let (Some(old), Some(new)) = (old, new) else { return Err(error) };
        check_new(&new, &old, rules, |_| rules.pointer.to_owned())
    }

    fn are_equal(left: Datum, right: Datum) -> bool {
        // A new value can still have any number of elements.
        if datum::array_length(left) != datum::array_length(right) {
            return false;
        }
        let (left, right) = (datum::read_text_array(left), datum::read_text_array(right));
        left.is_some() && left == right
    }

    fn write_json(out: &mut String, value: Datum) {
        out.push('[');
        for (index, element) in datum::read_text_array(value).unwrap_or_default().iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(out, element);
        }
        out.push(']');
    }

    fn write_cell(out: &mut String, value: Datum) {
        write_list(out, &datum::read_text_array(value).unwrap_or_default(), SEPARATOR);
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        let elements = json::array_at_most(json, MAX_ELEMENTS + 1, "").ok()?;
        if elements.len() > MAX_ELEMENTS {
            return None;
        }
        let elements = elements.into_iter().map(cursor_text).collect::<Option<Vec<String>>>()?;
        Some(array_sql(elements.iter().map(String::as_str)))
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::List(list) = value else { return None };
        Some(array_sql(list.iter().map(|element| element.as_ref())))
    }
}

fn array_sql<'a>(elements: impl Iterator<Item = &'a str>) -> String {
    let elements: Vec<String> = elements.map(literal).collect();
    format!("array[{}]::text[]", elements.join(", "))
}

fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
    let pointer = rules.pointer;
    if let Some(single) = json::string_at(raw, pointer)? {
        check_length(&single, pointer)?;
        let other = check_option(&single, rules.options, pointer).err();
        return Ok(change(vec![single], other));
    }
    if !raw.get().starts_with('[') {
        return Err(must_be(pointer, "an array of strings, or one string"));
    }
    let entries = json::array_at(raw, pointer)?;
    check_count(entries.len(), pointer)?;
    let mut list = Vec::with_capacity(entries.len());
    let mut other = None;
    for (position, entry) in entries.into_iter().enumerate() {
        let here = format!("{pointer}/{position}");
        let element = json::string_at(entry, &here)?.ok_or_else(|| must_be(&here, "a string"))?;
        check_length(&element, &here)?;
        other = other.or_else(|| check_option(&element, rules.options, &here).err());
        list.push(element);
    }
    check_size(list.iter().map(|element| element.len()), pointer)?;
    Ok(change(list, other))
}

/// The change of a list. An element that is not an option can only be kept.
fn change(list: Vec<Cow<str>>, other: Option<Error>) -> Change {
    match other {
        None => Change::Set(Value::List(list)),
        Some(error) => Change::Keep(Value::List(list), Box::new(error)),
    }
}

/// Rejects elements that are neither options nor in the record's current list. `pointer` returns the pointer of an element.
pub fn check_new(
    list: &[impl AsRef<str>],
    held: &[String],
    rules: &Rules,
    pointer: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let held: HashSet<&str> = held.iter().map(String::as_str).collect();
    let new = list.iter().enumerate().filter(|(_, element)| !held.contains(element.as_ref()));
    new.into_iter()
        .try_for_each(|(position, element)| check_option(element.as_ref(), rules.options, &pointer(position)))
}

fn check_count(count: usize, pointer: &str) -> Result<(), Error> {
    if count > MAX_ELEMENTS {
        let message = format!("a list has at most {MAX_ELEMENTS} elements, not {count}");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

/// Rejects elements whose total size exceeds `keyed.max_text_size`.
fn check_size(elements: impl Iterator<Item = usize>, pointer: &str) -> Result<(), Error> {
    let (bytes, max) = (elements.sum::<usize>(), limits::text_bytes());
    if bytes > max {
        let message = format!("the elements have a total of {bytes} bytes: at most {max} are allowed");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

/// Rejects an element of more than 2000 bytes.
fn check_length(element: &str, pointer: &str) -> Result<(), Error> {
    let bytes = element.len();
    if bytes > MAX_ELEMENT_BYTES {
        let message = format!("the element has {bytes} bytes: at most {MAX_ELEMENT_BYTES} are allowed");
        return Err(
            Error::at(Code::InvalidValue, pointer, message).hint("Store longer texts in a string attribute.")
        );
    }
    Ok(())
}

/// Rejects an element that is not an option.
fn check_option(element: &str, options: Option<&[ListOption]>, pointer: &str) -> Result<(), Error> {
    match options {
        Some(options) if !options.iter().any(|option| option.value == element) => {
            let shown: Vec<&str> = options.iter().take(20).map(|option| option.value.as_str()).collect();
            let more = if options.len() > shown.len() { ", …" } else { "" };
            Err(Error::at(Code::InvalidValue, pointer, format!("{element:?} is not one of the options"))
                .hint(format!("Use one of the options {}{more}.", shown.join(", "))))
        }
        _ => Ok(()),
    }
}
