//! Times with microsecond precision.

use super::kind::{Family, Kind, Rules, cursor_text, string_at, write_quoted};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::operand::{Meaning, Operand};
use crate::value::{time, time_error};
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;

/// `timestamptz`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "datetime";
    const COLUMN_TYPE: &'static str = "timestamptz";
    const OID: Oid = pg_sys::TIMESTAMPTZOID;
    const ARRAY_OID: Oid = pg_sys::TIMESTAMPTZARRAYOID;
    const FAMILY: Family = Family::Time;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        let text = string_at(raw, rules.pointer, "a time as a string, RFC 3339 with offset")?;
        time::parse_datetime(&text, rules.pointer).map(|at| Change::Set(Value::ByValue(at)))
    }

    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        time::parse_datetime(cell, rules.pointer).map(|at| Change::Set(Value::ByValue(at)))
    }

    /// Parses a time, or a date, which means any time of the day.
    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        let Some(text) = operand.text().filter(|text| time_error::begins_like_a_date(text)) else {
            return Err(operand
                .must_be("a time with offset or a date, as a string")
                .hint("Write RFC 3339, for example 2024-02-29T13:45:00Z, or for a whole day 2024-02-29."));
        };
        if text.len() == 10 {
            return time::parse_date(text, &operand.pointer).map(Meaning::Day);
        }
        let at = time::parse_datetime(text, &operand.pointer)?;
        Ok(Meaning::Constant(Constant::instant(at)))
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        if time::DATETIME_RANGE.contains(&datum::read_i64(value)) {
            return Ok(());
        }
        Err(Error::at(Code::InvalidValue, rules.pointer, "must be a time of the years 0001 to 9999"))
    }

    fn write_json(out: &mut String, value: Datum) {
        write_quoted(out, |out| Type::write_cell(out, value));
    }

    fn write_cell(out: &mut String, value: Datum) {
        time::write_datetime(out, datum::read_i64(value));
    }

    /// A time out of range, which can only be stored with triggers disabled, is written in microseconds.
    fn write_cursor(out: &mut String, value: Datum) {
        let at = datum::read_i64(value);
        if time::DATETIME_RANGE.contains(&at) {
            Type::write_json(out, value);
        } else {
            out.push_str(&at.to_string());
        }
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        match json.get().parse() {
            Ok(at) => time::datetime_sql(at),
            Err(_) => Some(Constant::instant(time::parse_datetime(&cursor_text(json)?, "").ok()?).typed("")),
        }
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::ByValue(at) = value else { return None };
        Some(Constant::instant(*at).typed(""))
    }
}
