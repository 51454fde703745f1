//! Values as arguments of statements.

use super::statement::{Assigned, Assignments};
use crate::attribute_type::AttributeType;
use crate::postgres::datum::{self, Argument};
use crate::postgres::parameter::{Parameter, Timestamp, params};
use crate::template::{Attribute, Template};
use crate::value::change::{Changes, Value};
use pgrx::pg_sys::{self, Datum};
use std::ops::Deref;

/// The value of an attribute of this type as an argument of a statement.
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
        // Resolved before a statement is made; see `reference::resolve`.
        Value::ReferenceByKey(_) | Value::ReferenceByText(..) => None,
    }
}

/// Assignments with the arguments of their parameters.
pub struct BoundAssignments<'c> {
    assignments: Assignments<'c>,
    /// In the order of the parameters.
    pub arguments: Vec<Parameter>,
}

impl<'c> Deref for BoundAssignments<'c> {
    type Target = Assignments<'c>;

    fn deref(&self) -> &Assignments<'c> {
        &self.assignments
    }
}

impl<'c> BoundAssignments<'c> {
    /// The assignments that checked changes ask for; references by key must have been resolved.
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

    /// Whether they would leave a record as it is; `holds` says whether an attribute of it has this value.
    pub fn change_nothing(&self, holds: impl Fn(&Attribute, Argument) -> bool) -> bool {
        // With nothing but values to set there is one argument for each.
        self.set_only()
            && self.iter().zip(&self.arguments).all(|(item, value)| holds(item.attribute, value.value()))
    }
}

/// The values of one column, one for each row, as an array. PostgreSQL has no arrays of arrays, so a list travels as text.
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
