//! Values as arguments of statements.

use crate::postgres::datum::{self, Argument};
use crate::value::change::Value;
use pgrx::pg_sys::Datum;

/// A value as the argument of a parameter of its type.
pub fn argument(value: &Value) -> Argument {
    match value {
        Value::Null => None,
        Value::Text(text) => datum::text(text),
        Value::Number(digits) => datum::numeric(digits),
        Value::List(list) => datum::text_array(list.iter().map(|element| Some(element.as_ref()))),
        Value::ByValue(value) => Some(Datum::from(*value)),
        Value::Reference(id) => datum::uuid(*id),
        // Resolved before a statement is made; see `reference::resolve`.
        Value::ReferenceByKey(_) => None,
    }
}
