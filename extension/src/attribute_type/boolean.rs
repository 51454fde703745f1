//! Booleans.

use super::kind::{Family, Kind, Rules, must_be};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::operand::{Meaning, Operand};
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;

const EXPECTED: &str = "true or false";
const EXPECTED_IN_JSON: &str = "true or false, without quotes";

/// `boolean`.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "boolean";
    const COLUMN_TYPE: &'static str = "boolean";
    const OID: Oid = pg_sys::BOOLOID;
    const ARRAY_OID: Oid = pg_sys::BOOLARRAYOID;
    const FAMILY: Family = Family::Discrete;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        let value = parse(raw.get()).ok_or_else(|| must_be(rules.pointer, EXPECTED_IN_JSON))?;
        Ok(Change::Set(Value::ByValue(value.into())))
    }

    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        let refuse = || {
            Error::at(Code::InvalidValue, rules.pointer, format!("{cell:?} is not true or false"))
                .hint("Write true or false, or leave the cell empty for no value.")
        };
        // Spreadsheets write TRUE and FALSE.
        let is = |name: &str| cell.eq_ignore_ascii_case(name);
        let value = if is("true") { Some(true) } else { is("false").then_some(false) };
        value.map(|value| Change::Set(Value::ByValue(value.into()))).ok_or_else(refuse)
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        let value = operand.json().and_then(|json| parse(&json));
        let value = value.ok_or_else(|| operand.must_be(EXPECTED))?;
        Ok(Meaning::Constant(constant(value)))
    }

    fn write_json(out: &mut String, value: Datum) {
        out.push_str(if datum::read_bool(value) { "true" } else { "false" });
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        parse(json.get()).map(|value| constant(value).typed(""))
    }

    fn default_sql(value: &Value) -> Option<String> {
        let Value::ByValue(value) = value else { return None };
        Some(constant(*value != 0).typed(""))
    }
}

fn parse(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn constant(value: bool) -> Constant {
    Constant::Typed(value.to_string(), Type::COLUMN_TYPE)
}
