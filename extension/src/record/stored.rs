//! The rules of a value that is about to be stored, whoever wrote it.

use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::template::Attribute;
use crate::value::attribute_type::AttributeType;
use crate::value::{change, time};
use pgrx::pg_sys::Datum;

/// The rules of a value that its column type alone does not keep.
pub fn check_value(attribute: &Attribute, datum: Datum) -> Result<(), Error> {
    let refuse = |message: &str| Err(Error::at(Code::InvalidValue, &attribute.pointer, message));
    match attribute.kind {
        AttributeType::String => {
            datum::with_text(datum, |text| change::check_text_size(text.len(), &attribute.pointer))
        }
        AttributeType::Number => {
            let mut digits = String::new();
            datum::write_numeric(&mut digits, datum);
            if digits.ends_with(|last: char| last.is_ascii_alphabetic()) {
                return refuse("must be a finite number");
            }
            if digits.len() > 2 * change::MAX_NUMBER_DIGITS {
                return refuse("has too many digits");
            }
            Ok(())
        }
        AttributeType::Metric if !datum::read_f64(datum).is_finite() => refuse("must be a finite number"),
        AttributeType::List => {
            let Some(list) = datum::read_text_array(datum) else {
                return refuse("must be a one-dimensional array without nulls");
            };
            if list.len() > change::MAX_LIST_ELEMENTS {
                return refuse("has too many elements");
            }
            change::check_text_size(list.iter().map(String::len).sum(), &attribute.pointer)?;
            list.iter().try_for_each(|item| {
                change::check_element_size(item.len(), &attribute.pointer)?;
                change::check_option(attribute.options.as_deref(), item, &attribute.pointer)
            })
        }
        AttributeType::Date if !time::DATE_RANGE.contains(&datum::read_i32(datum)) => {
            refuse("must be a date of the years 0001 to 9999")
        }
        AttributeType::DateTime if !time::DATETIME_RANGE.contains(&datum::read_i64(datum)) => {
            refuse("must be a time of the years 0001 to 9999")
        }
        AttributeType::Metric | AttributeType::Date | AttributeType::DateTime | AttributeType::Reference => {
            Ok(())
        }
    }
}
