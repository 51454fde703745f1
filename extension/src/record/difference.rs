//! Whether an UPDATE changes a value, apart from its representation.
//!
//! 1 and 1.0 are equal numbers, as are 0.0 and -0.0, and lists are compared by elements, regardless of array bounds.
//! Writing an equal value changes nothing: the stored representation remains.

use crate::postgres::datum::Argument;
use crate::postgres::trigger::Row;
use crate::template::{Attribute, Template};

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
                (Some(before), Some(after)) if attribute.kind.are_equal(before, after) => {
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
