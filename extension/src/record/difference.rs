//! What an UPDATE changes: values, not how they are stored.
//!
//! 1 and 1.0 are one number, as are 0.0 and -0.0, and a list is its elements, whatever PostgreSQL calls the first of
//! them. Who writes an equal value changes nothing: the stored one stays as it is, digit for digit.

use crate::postgres::datum::{self, Argument};
use crate::postgres::trigger::Row;
use crate::template::{Attribute, Template};
use crate::value::attribute_type::AttributeType;
use pgrx::pg_sys::Datum;

/// The attributes of a row that is written over another.
pub struct Difference<'t> {
    /// The attributes that get another value.
    pub changed: Vec<&'t Attribute>,
    /// The columns that were sent an equal value in another form, with what they keep.
    pub kept: Vec<(i16, Argument)>,
}

impl<'t> Difference<'t> {
    /// Compares the attributes of two rows of a template.
    pub fn between(template: &'t Template, old: &Row, new: &Row) -> Difference<'t> {
        let mut difference = Difference { changed: Vec::new(), kept: Vec::new() };
        for attribute in template.attributes.iter().filter(|it| !new.same(old, it.column)) {
            match (old.get(attribute.column), new.get(attribute.column)) {
                (Some(before), Some(after)) if are_equal(attribute.kind, before, after) => {
                    difference.kept.push((attribute.column, Some(before)));
                }
                _ => difference.changed.push(attribute),
            }
        }
        difference
    }

    /// Whether the column is one that keeps its value.
    pub fn keeps(&self, column: i16) -> bool {
        self.kept.iter().any(|(number, _)| *number == column)
    }
}

/// Whether two values of different images are the same value.
fn are_equal(kind: AttributeType, left: Datum, right: Datum) -> bool {
    match kind {
        AttributeType::Number => datum::numerics_are_equal(left, right),
        AttributeType::Metric => datum::read_f64(left) == datum::read_f64(right),
        AttributeType::List => {
            let (left, right) = (datum::read_text_array(left), datum::read_text_array(right));
            left.is_some() && left == right
        }
        // A text is its bytes, and a time and an id have one image for each value.
        AttributeType::String | AttributeType::Date | AttributeType::DateTime | AttributeType::Reference => {
            false
        }
    }
}
