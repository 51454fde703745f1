//! Operands → constants of the field's type, without coercion.

use super::field::Column;
use super::predicate::Point;
use crate::attribute_type::{Rules, string};
use crate::error::Error;
use crate::value::constant::Constant;
use crate::value::key;
use crate::value::list_option::ListOption;
use crate::value::operand::{Meaning, Operand, Sent};

const A_RECORD_ID: &str = "a record id as a string";

/// Reads a value for an equality comparison. `options` are the allowed values of a list.
pub fn read(column: &Column, options: Option<&[ListOption]>, operand: &Operand) -> Result<Meaning, Error> {
    match column {
        Column::ExternalKey => external_key(operand).map(|key| Meaning::Constant(Constant::Text(key))),
        Column::Id => match operand.id() {
            Some(id) => Ok(Meaning::Constant(Constant::id(id))),
            None => Err(operand.must_be(A_RECORD_ID)),
        },
        column => {
            let rules = Rules { pointer: &operand.pointer, options, ..Rules::default() };
            column.kind().parse_operand(operand, &rules)
        }
    }
}

/// Reads a bound of a range.
pub fn point(column: &Column, operand: &Operand) -> Result<Point, Error> {
    match read(column, None, operand)? {
        Meaning::Constant(constant) => Ok(Point::At(constant)),
        Meaning::Day(day) => Ok(Point::Day(day)),
        Meaning::Key(_) => Err(operand.must_be(A_RECORD_ID)),
    }
}

/// Reads an operand, which must be a string.
pub fn text(operand: &Operand) -> Result<String, Error> {
    string::parse_operand(operand)
}

/// Reads the id of a template, which responses contain as a string.
pub fn template_id(operand: &Operand) -> Result<String, Error> {
    let text = match &operand.sent {
        Sent::Text(text) => text.as_str(),
        Sent::Json(json) | Sent::JsonInText(json) => json.get(),
    };
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(text.to_owned()) } else { Err(operand.must_be("the number of a template")) }
}

/// The stored form of a key, without leading and trailing spaces.
fn external_key(operand: &Operand) -> Result<String, Error> {
    let text = operand.text().ok_or_else(|| operand.must_be("a string"))?;
    let normalized = key::normalize(text);
    let normalized = normalized.map_err(|error| Error::at(error.code, &operand.pointer, error.message))?;
    Ok(normalized.to_owned())
}
