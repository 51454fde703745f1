//! Metrics: the latest value of a time series in a side table.

use super::kind::{Family, Kind, Rules, json_in_cell, must_be, string_at};
use super::number::{cursor_number, json_number, operand_digits, require};
use crate::error::{Code, Error};
use crate::json;
use crate::json_write::write_double;
use crate::postgres::datum;
use crate::value::change::{Change, Point};
use crate::value::constant::Constant;
use crate::value::operand::{Meaning, Operand};
use crate::value::time;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;

/// The maximum number of points that a write appends to a series.
const MAX_POINTS: usize = 10_000;

const EXPECTED: &str = "a JSON number, {value, at}, or an array of these";
const EXPECTED_IN_ARRAY: &str = "a JSON number or {value, at}";
const EXPECTED_AS_VALUE: &str = "a JSON number";

/// `double precision`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "metric";
    const COLUMN_TYPE: &'static str = "double precision";
    const OID: Oid = pg_sys::FLOAT8OID;
    const ARRAY_OID: Oid = pg_sys::FLOAT8ARRAYOID;
    const FAMILY: Family = Family::Number;
    const MAY_HAVE_DEFAULT: bool = false;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        if !raw.get().starts_with('[') {
            return parse_point(raw, rules.pointer, EXPECTED, rules).map(|point| Change::Append(vec![point]));
        }
        parse_points(raw, rules).map(Change::Append)
    }

    /// Parses a number measured now, or points in JSON: `{"value": 4, "at": "…"}`, or an array of them.
    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        if cell.starts_with(['{', '[']) {
            return Type::parse(json_in_cell(cell, rules.pointer)?, rules);
        }
        require(cell, rules.pointer)?;
        let value = finite(cell, rules.pointer)?;
        Ok(Change::Append(vec![Point { value, at: None }]))
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        match operand_digits(operand)?.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                let mut text = String::new();
                write_double(&mut text, number);
                Ok(Meaning::Constant(Constant::Typed(text, Type::COLUMN_TYPE)))
            }
            _ => {
                let message = "is too large for this field (double precision)";
                Err(Error::at(Code::InvalidValue, &operand.pointer, message))
            }
        }
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        match datum::read_f64(value).is_finite() {
            true => Ok(()),
            false => Err(must_be(rules.pointer, "a finite number")),
        }
    }

    fn are_equal(left: Datum, right: Datum) -> bool {
        datum::read_f64(left) == datum::read_f64(right)
    }

    fn write_json(out: &mut String, value: Datum) {
        write_double(out, datum::read_f64(value));
    }

    fn write_cursor(out: &mut String, value: Datum) {
        let number = datum::read_f64(value);
        if number.is_finite() {
            return write_double(out, number);
        }
        let infinity = if number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" };
        out.push_str(if number.is_nan() { "\"NaN\"" } else { infinity });
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        cursor_number(json, Type::COLUMN_TYPE, |digits| digits.parse::<f64>().is_ok_and(f64::is_finite))
    }
}

/// Parses an array of points.
pub fn parse_points(raw: &RawValue, rules: &Rules) -> Result<Vec<Point>, Error> {
    let pointer = rules.pointer;
    let entries = json::array_at(raw, pointer)?;
    if entries.len() > MAX_POINTS {
        let message = format!("one write appends at most {MAX_POINTS} points, not {}", entries.len());
        return Err(Error::at(Code::PayloadTooLarge, pointer, message));
    }
    let read =
        |(position, entry)| parse_point(entry, &format!("{pointer}/{position}"), EXPECTED_IN_ARRAY, rules);
    entries.into_iter().enumerate().map(read).collect()
}

/// Parses a number or `{value, at}`. `expected` is for the error message.
fn parse_point(raw: &RawValue, pointer: &str, expected: &str, rules: &Rules) -> Result<Point, Error> {
    if !raw.get().starts_with('{') {
        return Ok(Point { value: parse_double(raw, pointer, expected, rules)?, at: None });
    }
    let (mut value, mut at) = (None, None);
    for (name, member) in &json::object_at(raw, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "value" => value = Some(parse_double(member, &here, EXPECTED_AS_VALUE, rules)?),
            "at" => {
                let text = string_at(member, &here, "a time as a string, RFC 3339 with offset")?;
                at = Some(time::parse_datetime(&text, &here)?);
            }
            _ => {
                return Err(Error::at(
                    Code::UnknownField,
                    here,
                    "a point accepts only the members value and at",
                ));
            }
        }
    }
    let value = value.ok_or_else(|| {
        Error::at(Code::InvalidValue, format!("{pointer}/value"), "a point needs the member value")
    })?;
    Ok(Point { value, at })
}

fn parse_double(raw: &RawValue, pointer: &str, expected: &str, rules: &Rules) -> Result<f64, Error> {
    finite(json_number(raw, rules).ok_or_else(|| must_be(pointer, expected))?, pointer)
}

fn finite(digits: &str, pointer: &str) -> Result<f64, Error> {
    let number = digits.parse::<f64>().ok().filter(|value| value.is_finite());
    number
        .ok_or_else(|| Error::at(Code::InvalidValue, pointer, "is too large for a metric (double precision)"))
}
