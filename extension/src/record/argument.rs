//! Values as arguments of statements.

use super::statement::{Assigned, Assignments};
use crate::postgres::datum::{self, Argument};
use crate::template::{Attribute, Template};
use crate::value::change::{Changes, Value};
use pgrx::pg_sys::{self, Datum, Oid};
use std::ops::Deref;

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

/// Assignments with the arguments of their parameters.
pub struct BoundAssignments<'c> {
    assignments: Assignments<'c>,
    /// In the order of the parameters.
    pub arguments: Vec<Argument>,
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
            match item.assigned {
                Assigned::Set(value) => arguments.push(argument(value)),
                Assigned::Increment(amount) => arguments.push(datum::numeric(amount)),
                Assigned::Latest(point) => {
                    arguments.push(datum::double(point.value));
                    arguments.push(point.at.map(Datum::from));
                }
            }
        }
        BoundAssignments { assignments, arguments }
    }

    /// Whether they would leave a record as it is; `holds` says whether an attribute of it has this value.
    pub fn change_nothing(&self, holds: impl Fn(&Attribute, Argument) -> bool) -> bool {
        // With nothing but values to set there is one argument for each.
        self.set_only() && self.iter().zip(&self.arguments).all(|(item, value)| holds(item.attribute, *value))
    }

    /// The types of the parameters.
    pub fn parameter_types(&self) -> Vec<Oid> {
        let mut types = Vec::with_capacity(self.arguments.len());
        for item in self.iter() {
            types.push(item.attribute.kind.oid());
            if matches!(item.assigned, Assigned::Latest(_)) {
                types.push(pg_sys::TIMESTAMPTZOID);
            }
        }
        types
    }

    /// The types of the parameters of a statement that begins with id and key.
    pub fn types_after_id_and_key(&self) -> Vec<Oid> {
        let mut types = vec![pg_sys::UUIDOID, pg_sys::TEXTOID];
        types.extend(self.parameter_types());
        types
    }
}
