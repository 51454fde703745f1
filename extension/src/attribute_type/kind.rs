//! The trait of attribute types, and shared helpers.

use crate::error::{Code, Error};
use crate::json;
use crate::value::change::{Change, Value};
use crate::value::list_option::ListOption;
use crate::value::operand::{Meaning, Operand};
use pgrx::pg_sys::{Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum size of a string in a cursor, which is that of a list element in an index.
const MAX_CURSOR_BYTES: usize = 2000;

/// A family of fields with the same operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Strings.
    Text,
    /// Numbers.
    Number,
    /// Lists of strings.
    List,
    /// Dates and times, including those of the record.
    Time,
    /// Values without a meaningful order.
    Discrete,
    /// `external_key`.
    Key,
    /// `id`.
    Id,
    /// `template_id` and `template_slug`: the same for every record of a template.
    Template,
}

/// The rules of an attribute's values in addition to its type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'a> {
    /// The JSON pointer of the value, for errors.
    pub pointer: &'a str,
    /// The allowed elements of a list; `None` allows any.
    pub options: Option<&'a [ListOption]>,
    /// The id of a reference's target template.
    pub target: Option<i32>,
    /// Whether a number can be sent as a JSON string.
    pub numbers_as_strings: bool,
}

/// An attribute type.
pub(super) trait Kind {
    /// Its name in the API.
    const NAME: &'static str;
    /// Another name for it.
    const ALIAS: Option<&'static str> = None;
    /// The SQL type of its column.
    const COLUMN_TYPE: &'static str;
    /// The OID of the column type.
    const OID: Oid;
    /// The array type for a statement that writes several rows.
    const ARRAY_OID: Oid;
    /// The family, which determines the operators.
    const FAMILY: Family;
    /// Whether an attribute may have a default.
    const MAY_HAVE_DEFAULT: bool = true;
    /// Whether its values are strings, for full-text search and embedding.
    const IS_TEXT: bool = false;

    /// Parses JSON other than null, without coercion.
    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error>;

    /// Parses a non-empty cell without U+0000.
    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error>;

    /// Parses an operand of a condition.
    fn parse_operand(operand: &Operand, rules: &Rules) -> Result<Meaning, Error>;

    /// Checks a value beyond its column type, in the row trigger.
    fn check_stored(_value: Datum, _rules: &Rules) -> Result<(), Error> {
        Ok(())
    }

    /// Like [`Kind::check_stored`], for a value that replaces another.
    fn check_replaced(_old: Datum, new: Datum, rules: &Rules) -> Result<(), Error> {
        Self::check_stored(new, rules)
    }

    /// Whether two values with different binary images are equal.
    fn are_equal(_left: Datum, _right: Datum) -> bool {
        false
    }

    /// Appends a stored value as JSON.
    fn write_json(out: &mut String, value: Datum);

    /// Appends a stored value as a cell, which [`Kind::parse_cell`] reads back.
    fn write_cell(out: &mut String, value: Datum) {
        Self::write_json(out, value);
    }

    /// Appends a stored value to a cursor as JSON, exactly, even if responses show it clamped.
    fn write_cursor(out: &mut String, value: Datum) {
        Self::write_json(out, value);
    }

    /// The SQL expression for a value of a cursor; `None` if it is invalid. The cursor may be forged.
    fn cursor_sql(json: &RawValue) -> Option<String>;

    /// The SQL expression for a column default; `None` if the value cannot be one.
    fn default_sql(_value: &Value) -> Option<String> {
        None
    }
}

/// The error that names the expected form.
pub(super) fn must_be(pointer: &str, expected: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("must be {expected}"))
}

/// The text of a JSON string.
pub(super) fn string_at<'a>(raw: &'a RawValue, pointer: &str, expected: &str) -> Result<Cow<'a, str>, Error> {
    json::string_at(raw, pointer)?.ok_or_else(|| must_be(pointer, expected))
}

/// The text of a cursor's value; `None` if it is invalid.
pub(super) fn cursor_text(json: &RawValue) -> Option<String> {
    let text = serde_json::from_str::<String>(json.get()).ok()?;
    (text.len() <= MAX_CURSOR_BYTES && !text.contains('\0')).then_some(text)
}

/// Parses a cell as JSON.
pub(super) fn json_in_cell<'a>(cell: &'a str, pointer: &str) -> Result<&'a RawValue, Error> {
    serde_json::from_str(cell).map_err(|error| {
        let message = format!("looks like JSON but does not parse: {error}");
        Error::at(Code::InvalidValue, pointer, message)
    })
}

/// Appends the output of `write` in quotes.
pub(super) fn write_quoted(out: &mut String, write: impl FnOnce(&mut String)) {
    out.push('"');
    write(out);
    out.push('"');
}
