//! Values as parameters of statements.

use super::statement::{Assigned, Assignments};
use crate::attribute_type::AttributeType;
use crate::postgres::datum::{self, Argument};
use crate::postgres::parameter::{Parameter, Timestamp, params};
use crate::template::{Attribute, Template};
use crate::value::change::{Changes, Value};
use pgrx::pg_sys::{self, Datum};
use std::ops::Deref;

/// A value of this type as a parameter of a statement.
pub fn parameter(kind: AttributeType, value: &Value) -> Parameter {
    Parameter::of_type(kind.oid(), argument(value))
}

/// A value as a datum of its attribute's type.
fn argument(value: &Value) -> Argument {
    match value {
        Value::Null => None,
        Value::Text(text) => datum::text(text),
        Value::Number(digits) => datum::numeric(digits),
        Value::List(list) => {
            datum::array_from(list.iter().map(|element| datum::text(element)), pg_sys::TEXTOID)
        }
        Value::ByValue(value) => Some(Datum::from(*value)),
        Value::Reference(id) => datum::uuid(*id),
        // `reference::resolve` has replaced these.
        Value::ReferenceByKey(_) | Value::ReferenceByText(..) => None,
    }
}

/// Assignments with their parameter values.
pub struct BoundAssignments<'c> {
    assignments: Assignments<'c>,
    /// The values, in the order of the parameters.
    pub arguments: Vec<Parameter>,
}

impl<'c> Deref for BoundAssignments<'c> {
    type Target = Assignments<'c>;

    fn deref(&self) -> &Assignments<'c> {
        &self.assignments
    }
}

impl<'c> BoundAssignments<'c> {
    /// The assignments of checked changes. References by key must have been resolved.
    pub fn new(template: &'c Template, changes: &'c Changes<'c>) -> Self {
        let assignments = Assignments::new(template, changes);
        let mut arguments = Vec::with_capacity(changes.len() + 2);
        for item in assignments.iter() {
            let kind = item.attribute.kind;
            match item.assigned {
                Assigned::Set(value) => arguments.push(parameter(kind, value)),
                Assigned::Increment(amount) => {
                    arguments.push(Parameter::of_type(kind.oid(), datum::numeric(amount)));
                }
                Assigned::Latest(point) => {
                    arguments.extend(params![point.value, point.at.map(Timestamp)]);
                }
            }
        }
        BoundAssignments { assignments, arguments }
    }

    /// Whether a record has all values already. `holds` returns whether an attribute has a value.
    pub fn is_unchanged(&self, holds: impl Fn(&Attribute, Argument) -> bool) -> bool {
        // If all assignments set values, each has one parameter.
        self.set_only()
            && self.iter().zip(&self.arguments).all(|(item, value)| holds(item.attribute, value.value()))
    }
}

/// The values of one column for many rows, as an array parameter. PostgreSQL has no arrays of arrays, so lists are array
/// literals.
pub fn column_parameter<'v>(
    kind: AttributeType,
    values: impl ExactSizeIterator<Item = Option<&'v Value<'v>>>,
) -> Parameter {
    let element = if kind == AttributeType::List { pg_sys::TEXTOID } else { kind.oid() };
    let datum = |value: Option<&Value>| match value? {
        list @ Value::List(_) => datum::array_literal(argument(list)),
        value => argument(value),
    };
    Parameter::of_type(kind.array_oid(), datum::array_from(values.map(datum), element))
}
