//! Strings.

use super::kind::{Family, Kind, Rules, cursor_text, string_at};
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::limits;
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::file_format::{unguarded, write_text};
use crate::value::operand::{Meaning, Operand};
use crate::value::quote::literal;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// `text`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "string";
    const ALIAS: Option<&'static str> = Some("dimension");
    const COLUMN_TYPE: &'static str = "text";
    const OID: Oid = pg_sys::TEXTOID;
    const ARRAY_OID: Oid = pg_sys::TEXTARRAYOID;
    const FAMILY: Family = Family::Text;
    const IS_TEXT: bool = true;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        let text = string_at(raw, rules.pointer, "a string")?;
        check_size(text.len(), rules.pointer)?;
        Ok(Change::Set(Value::Text(text)))
    }

    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        let text = unguarded(cell);
        check_size(text.len(), rules.pointer)?;
        Ok(Change::Set(Value::Text(Cow::Borrowed(text))))
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        parse_operand(operand).map(|text| Meaning::Constant(Constant::Text(text)))
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        datum::with_text(value, |text| check_size(text.len(), rules.pointer))
    }

    fn write_json(out: &mut String, value: Datum) {
        datum::with_text(value, |text| write_string(out, text));
    }

    fn write_cell(out: &mut String, value: Datum) {
        datum::with_text(value, |text| write_text(out, text));
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        cursor_text(json).map(|text| literal(&text))
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::Text(text) = value else { return None };
        Some(literal(text))
    }
}

/// Parses an operand, which must be a string.
pub fn parse_operand(operand: &Operand) -> Result<String, Error> {
    let text = operand.text().ok_or_else(|| operand.must_be("a string"))?;
    check_size(text.len(), &operand.pointer)?;
    Ok(text.to_owned())
}

/// Rejects a string that exceeds `keyed.max_text_size`.
pub fn check_size(bytes: usize, pointer: &str) -> Result<(), Error> {
    let max = limits::text_bytes();
    if bytes > max {
        let message = format!("the text has {bytes} bytes: at most {max} are allowed");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}
