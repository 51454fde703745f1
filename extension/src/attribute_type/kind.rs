//! What a type decides, and what types share.

use crate::error::{Code, Error};
use crate::json;
use crate::value::change::{Change, Value};
use crate::value::list_option::ListOption;
use crate::value::operand::{Meaning, Operand};
use pgrx::pg_sys::{Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum number of bytes of a text in a cursor: as many as an index holds of a list's element.
const MAX_CURSOR_BYTES: usize = 2000;

/// Fields that take the same operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Texts.
    Text,
    /// Numbers.
    Number,
    /// Lists of texts.
    List,
    /// Dates and times, those of a record too.
    Time,
    /// Values that are equal or not, without an order that anyone asks for.
    Discrete,
    /// `external_key`.
    Key,
    /// `id`.
    Id,
    /// `template_id` and `template_slug`: the same for every record of a template.
    Template,
}

/// The settings of an attribute for its values, beside its type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'a> {
    /// The place of a value in a request, for errors.
    pub pointer: &'a str,
    /// The only elements that a list may have; any where there are none.
    pub options: Option<&'a [ListOption]>,
    /// The number of the template that a reference points to.
    pub target: Option<i32>,
    /// Whether a JSON string that is a number is one.
    pub numbers_as_strings: bool,
}

/// What a type decides.
pub(super) trait Kind {
    /// Its name in the API.
    const NAME: &'static str;
    /// Another name for it.
    const ALIAS: Option<&'static str> = None;
    /// The type of its column, as SQL writes it.
    const COLUMN_TYPE: &'static str;
    /// The same as PostgreSQL numbers it.
    const OID: Oid;
    /// An array that has a value for each row, in a statement that writes many.
    const ARRAY_OID: Oid;
    /// Which operators it takes.
    const FAMILY: Family;
    /// Whether an attribute may have a default.
    const MAY_HAVE_DEFAULT: bool = true;
    /// Whether its values are texts: searched for words, and embedded.
    const IS_TEXT: bool = false;

    /// Reads JSON other than null: exact, nothing coerced.
    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error>;

    /// Reads a cell of a file that is not empty and has no U+0000.
    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error>;

    /// Reads a value that a condition compares with.
    fn parse_operand(operand: &Operand, rules: &Rules) -> Result<Meaning, Error>;

    /// Checks a stored value, for every writer, beyond what its column type enforces.
    fn check_stored(_value: Datum, _rules: &Rules) -> Result<(), Error> {
        Ok(())
    }

    /// The same for a value that takes the place of another of the record.
    fn check_replaced(_old: Datum, new: Datum, rules: &Rules) -> Result<(), Error> {
        Self::check_stored(new, rules)
    }

    /// Whether two values whose stored images differ are the same value.
    fn are_equal(_left: Datum, _right: Datum) -> bool {
        false
    }

    /// Appends a stored value as JSON.
    fn write_json(out: &mut String, value: Datum);

    /// Appends a stored value as a cell, which [`Kind::parse_cell`] reads back.
    fn write_cell(out: &mut String, value: Datum) {
        Self::write_json(out, value);
    }

    /// Appends a stored value to a cursor, as JSON: exact, also where an answer shows another.
    fn write_cursor(out: &mut String, value: Datum) {
        Self::write_json(out, value);
    }

    /// The value of a cursor as an expression in SQL; none where it is not one of ours. A forged cursor gets here too.
    fn cursor_sql(json: &RawValue) -> Option<String>;

    /// A value as the default of a column; none where it cannot be one.
    fn default_sql(_value: &Value) -> Option<String> {
        None
    }
}

/// The refusal that says what is wanted.
pub(super) fn must_be(pointer: &str, wanted: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("must be {wanted}"))
}

/// The text of a JSON string.
pub(super) fn string_at<'a>(raw: &'a RawValue, pointer: &str, wanted: &str) -> Result<Cow<'a, str>, Error> {
    json::string_at(raw, pointer)?.ok_or_else(|| must_be(pointer, wanted))
}

/// The text of a cursor's value; none where it is not a text of ours.
pub(super) fn cursor_text(json: &RawValue) -> Option<String> {
    let text = serde_json::from_str::<String>(json.get()).ok()?;
    (text.len() <= MAX_CURSOR_BYTES && !text.contains('\0')).then_some(text)
}

/// A cell as JSON.
pub(super) fn json_in_cell<'a>(cell: &'a str, pointer: &str) -> Result<&'a RawValue, Error> {
    serde_json::from_str(cell).map_err(|error| {
        let message = format!("looks like JSON but does not parse: {error}");
        Error::at(Code::InvalidValue, pointer, message)
    })
}

/// Appends what `write` writes, in quotes.
pub(super) fn write_quoted(out: &mut String, write: impl FnOnce(&mut String)) {
    out.push('"');
    write(out);
    out.push('"');
}
