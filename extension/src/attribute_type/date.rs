//! Dates.

use super::kind::{Family, Kind, Rules, cursor_text, string_at, write_quoted};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::operand::{Meaning, Operand};
use crate::value::time;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;

const EXPECTED: &str = "a date as a string, YYYY-MM-DD";

/// `date`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "date";
    const COLUMN_TYPE: &'static str = "date";
    const OID: Oid = pg_sys::DATEOID;
    const ARRAY_OID: Oid = pg_sys::DATEARRAYOID;
    const FAMILY: Family = Family::Time;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        parse(&string_at(raw, rules.pointer, EXPECTED)?, rules)
    }

    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        parse(cell, rules)
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        let text = operand.text().ok_or_else(|| operand.must_be(EXPECTED))?;
        Ok(Meaning::Constant(Constant::date(time::parse_date(text, &operand.pointer)?)))
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        if time::DATE_RANGE.contains(&datum::read_i32(value)) {
            return Ok(());
        }
        Err(Error::at(Code::InvalidValue, rules.pointer, "must be a date of the years 0001 to 9999"))
    }

    fn write_json(out: &mut String, value: Datum) {
        write_quoted(out, |out| Type::write_cell(out, value));
    }

    fn write_cell(out: &mut String, value: Datum) {
        time::write_date(out, datum::read_i32(value));
    }

    /// A date out of range, which can only be stored with triggers disabled, is written as its day number.
    fn write_cursor(out: &mut String, value: Datum) {
        let days = datum::read_i32(value);
        if time::DATE_RANGE.contains(&days) {
            Type::write_json(out, value);
        } else {
            out.push_str(&days.to_string());
        }
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        match json.get().parse() {
            Ok(days) => time::date_sql(days),
            Err(_) => Some(Constant::date(time::parse_date(&cursor_text(json)?, "").ok()?).typed("")),
        }
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::ByValue(days) = value else { return None };
        Some(Constant::date(i32::try_from(*days).ok()?).typed(""))
    }
}

fn parse<'a>(text: &str, rules: &Rules) -> Result<Change<'a>, Error> {
    time::parse_date(text, rules.pointer).map(|days| Change::Set(Value::ByValue(days.into())))
}
