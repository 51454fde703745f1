//! Exact decimal numbers.

use super::kind::{Family, Kind, Rules, cursor_text, must_be, write_quoted};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::operand::{Meaning, Operand};
use crate::value::quote::literal;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum number of digits, and the maximum exponent, so that eight bytes such as `1e131071` do not expand to a hundred
/// thousand.
pub const MAX_DIGITS: usize = 1000;
const MAX_EXPONENT: i32 = 100;

/// The maximum number of digits that direct DML can store: those of the longest number of a request, with its exponent.
const MAX_STORED_BY_STATEMENT: usize = 2 * MAX_DIGITS;

/// The maximum length of `numeric`, including sign and decimal point.
const MAX_STORED_DIGITS: usize = 150_000;

/// Numbers that JSON does not support. They can be stored with triggers disabled. A cursor contains them as strings, so that
/// they do not break pagination.
const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// `numeric`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "number";
    const COLUMN_TYPE: &'static str = "numeric";
    const OID: Oid = pg_sys::NUMERICOID;
    const ARRAY_OID: Oid = pg_sys::NUMERICARRAYOID;
    const FAMILY: Family = Family::Number;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        if !raw.get().starts_with('{') {
            return parse_digits(raw, rules.pointer, rules).map(|digits| Change::Set(Value::Number(digits)));
        }
        let members = json::object_at(raw, rules.pointer)?.0;
        match members.as_slice() {
            [(name, amount)] if name == "$inc" => {
                parse_digits(amount, &format!("{}/$inc", rules.pointer), rules).map(Change::Increment)
            }
            _ => Err(must_be(rules.pointer, "a number, or {\"$inc\": number}")),
        }
    }

    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        require(cell, rules.pointer)?;
        check_size(cell, rules.pointer)?;
        Ok(Change::Set(Value::Number(Cow::Borrowed(cell))))
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        let digits = operand_digits(operand)?;
        check_size(&digits, &operand.pointer)?;
        Ok(Meaning::Constant(Constant::Typed(digits.into_owned(), Type::COLUMN_TYPE)))
    }

    fn check_stored(value: Datum, rules: &Rules) -> Result<(), Error> {
        let mut digits = String::new();
        datum::write_numeric(&mut digits, value);
        let refuse = |message: &str| Err(Error::at(Code::InvalidValue, rules.pointer, message));
        if !is_finite(&digits) {
            return refuse("must be a finite number");
        }
        if count_digits(&digits) > MAX_STORED_BY_STATEMENT {
            return refuse(&format!("has more than {MAX_STORED_BY_STATEMENT} digits"));
        }
        Ok(())
    }

    fn are_equal(left: Datum, right: Datum) -> bool {
        datum::numerics_are_equal(left, right)
    }

    /// NaN and infinities, which can only be stored with triggers disabled, become null.
    fn write_json(out: &mut String, value: Datum) {
        let start = out.len();
        datum::write_numeric(out, value);
        if !is_finite(out) {
            out.truncate(start);
            out.push_str("null");
        }
    }

    fn write_cell(out: &mut String, value: Datum) {
        datum::write_numeric(out, value);
    }

    fn write_cursor(out: &mut String, value: Datum) {
        let mut digits = String::new();
        datum::write_numeric(&mut digits, value);
        if is_finite(&digits) {
            out.push_str(&digits);
        } else {
            write_quoted(out, |out| out.push_str(&digits));
        }
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        cursor_number(json, Type::COLUMN_TYPE, |digits| {
            digits.len() <= MAX_STORED_DIGITS && !digits.contains(['e', 'E'])
        })
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::Number(digits) = value else { return None };
        Some(format!("{}::numeric", literal(digits)))
    }
}

/// Whether the text form of a `numeric` is finite.
fn is_finite(digits: &str) -> bool {
    !digits.ends_with(|last: char| last.is_ascii_alphabetic())
}

/// The SQL expression for a number of a cursor; `None` if it is invalid.
pub(super) fn cursor_number(
    json: &RawValue,
    sql_type: &str,
    is_ours: impl FnOnce(&str) -> bool,
) -> Option<String> {
    if let Some(number) = cursor_text(json) {
        return NOT_FINITE.contains(&number.as_str()).then(|| format!("'{number}'::{sql_type}"));
    }
    let number = json.get();
    (begins_like_a_number(number) && is_ours(number)).then(|| format!("'{number}'::{sql_type}"))
}

/// Whether valid JSON is a number, by its first character.
pub(super) fn begins_like_a_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// Parses a number.
fn parse_digits<'a>(raw: &'a RawValue, pointer: &str, rules: &Rules) -> Result<Cow<'a, str>, Error> {
    let expected =
        if rules.numbers_as_strings { "a JSON number, or one as a string" } else { "a JSON number" };
    let digits = json_number(raw, rules).ok_or_else(|| must_be(pointer, expected))?;
    check_size(digits, pointer)?;
    Ok(Cow::Borrowed(digits))
}

/// The text of a JSON number, or of a number in a string if the rules allow it.
pub(super) fn json_number<'a>(raw: &'a RawValue, rules: &Rules) -> Option<&'a str> {
    let json = raw.get();
    if rules.numbers_as_strings {
        let text = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        if let Some(text) = text.filter(|text| is_number(text)) {
            return Some(text);
        }
    }
    begins_like_a_number(json).then_some(json)
}

/// The digits of a number in a condition, which is JSON or a string in JSON's grammar.
pub(super) fn operand_digits(operand: &Operand) -> Result<Cow<'_, str>, Error> {
    operand
        .json()
        .filter(|json| begins_like_a_number(json))
        .ok_or_else(|| operand.must_be("a number such as 12.50"))
}

/// Rejects a JSON number with too many digits or too large an exponent.
pub fn check_size(text: &str, pointer: &str) -> Result<(), Error> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let small = exponent.parse::<i32>().is_ok_and(|exponent| exponent.abs() <= MAX_EXPONENT);
    if count_digits(mantissa) > MAX_DIGITS || !small {
        let message = format!(
            "a number has at most {MAX_DIGITS} digits and an exponent from -{MAX_EXPONENT} to {MAX_EXPONENT}"
        );
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(())
}

/// The number of digits, without sign and decimal point.
fn count_digits(number: &str) -> usize {
    number.bytes().filter(u8::is_ascii_digit).count()
}

/// Rejects a cell that is not a number.
pub(super) fn require(cell: &str, pointer: &str) -> Result<(), Error> {
    if is_number(cell) {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, pointer, format!("{cell:?} is not a number"))
        .hint("Use a decimal point and no thousands separators, for example -1234.50."))
}

/// Whether a string is a JSON number.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || whole > 1 && unsigned.starts_with('0') {
        return false;
    }
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        None => rest.is_empty(),
    }
}
