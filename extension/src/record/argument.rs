//! Values as arguments of statements.

use crate::postgres::datum::{self, Argument};
use crate::value::attribute_type::AttributeType;
use crate::value::change::Value;
use pgrx::pg_sys::{self, Datum, Oid};

/// The column type of an attribute's values.
pub fn type_oid(kind: AttributeType) -> Oid {
    match kind {
        AttributeType::String => pg_sys::TEXTOID,
        AttributeType::Number => pg_sys::NUMERICOID,
        AttributeType::Metric => pg_sys::FLOAT8OID,
        AttributeType::List => pg_sys::TEXTARRAYOID,
        AttributeType::Date => pg_sys::DATEOID,
        AttributeType::DateTime => pg_sys::TIMESTAMPTZOID,
        AttributeType::Reference => pg_sys::UUIDOID,
    }
}

/// A value as the argument of a parameter of its type.
pub fn argument(value: &Value) -> Argument {
    match value {
        Value::Null => None,
        Value::Text(text) => datum::text(text),
        Value::Number(digits) => datum::numeric(digits),
        Value::List(list) => datum::text_array(list.iter().map(|element| Some(element.as_ref()))),
        Value::Date(days) => Some(Datum::from(*days)),
        Value::DateTime(at) => Some(Datum::from(*at)),
        Value::Reference(id) => datum::uuid(*id),
        // Resolved before a statement is made; see `reference::resolve`.
        Value::ReferenceByKey(_) => None,
    }
}
