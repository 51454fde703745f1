//! The rules of a value that is about to be stored, whoever wrote it.

use super::{time, value};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::template::Attribute;
use crate::template::definition::Kind;
use pgrx::pg_sys::Datum;

/// The rules of a value that its column type alone does not keep.
pub fn check_value(attribute: &Attribute, datum: Datum) -> Result<(), Error> {
    let refuse = |message: &str| Err(Error::at(Code::InvalidValue, &attribute.pointer, message));
    match attribute.kind {
        Kind::String => {
            datum::with_text(datum, |text| value::check_text_size(text.len(), &attribute.pointer))
        }
        Kind::Number => {
            let mut digits = String::new();
            datum::write_numeric(&mut digits, datum);
            if digits.ends_with(|last: char| last.is_ascii_alphabetic()) {
                return refuse("must be a finite number");
            }
            if digits.len() > 2 * value::MAX_NUMBER_DIGITS {
                return refuse("has too many digits");
            }
            Ok(())
        }
        Kind::Metric if !datum::read_f64(datum).is_finite() => refuse("must be a finite number"),
        Kind::List => {
            let Some(list) = datum::read_text_array(datum) else {
                return refuse("must be a one-dimensional array without nulls");
            };
            if list.len() > value::MAX_LIST_ELEMENTS {
                return refuse("has too many elements");
            }
            value::check_text_size(list.iter().map(String::len).sum(), &attribute.pointer)?;
            list.iter().try_for_each(|item| {
                value::check_element_size(item.len(), &attribute.pointer)?;
                value::check_option(attribute.options.as_deref(), item, &attribute.pointer)
            })
        }
        Kind::Date if !time::DATE_RANGE.contains(&datum::read_i32(datum)) => {
            refuse("must be a date of the years 0001 to 9999")
        }
        Kind::DateTime if !time::DATETIME_RANGE.contains(&datum::read_i64(datum)) => {
            refuse("must be a time of the years 0001 to 9999")
        }
        Kind::Metric | Kind::Date | Kind::DateTime | Kind::Reference => Ok(()),
    }
}
