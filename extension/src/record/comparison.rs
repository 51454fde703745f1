//! Compares the stored values of a record with new ones, without a statement.
//!
//! Most upserts of an integration do not change the record. Reading the row detects this at a third of the cost of a
//! statement that writes nothing.

use super::argument::BoundAssignments;
use crate::access::visibility::WriteScope;
use crate::attribute_type::AttributeType;
use crate::postgres::datum::{self, Argument};
use crate::postgres::index::{self, Found, Index, Which};
use crate::postgres::transaction;
use crate::postgres::trigger::Row;
use crate::template::{Attribute, Template, column};
use uuid::Uuid;

/// The live record with a key.
pub struct Holder {
    /// Its id.
    pub id: Uuid,
    /// Whether it already has all these values.
    pub has_values: bool,
}

/// The live record with a key that the caller may write. `None` if a statement must decide, for example if the row is
/// being changed. The record is not locked and may change before the write.
pub fn holder(
    template: &Template,
    key: &str,
    assignments: &BoundAssignments,
    write_scope: &WriteScope,
) -> Option<Holder> {
    // With a fixed snapshot, the statement reports conflicts; in a read-only transaction, it raises the error.
    if !transaction::may_write() {
        return None;
    }
    let index = template.key_index.map(Index::Known)?;
    let conditions = [&write_scope.visible, &write_scope.writable].into_iter().flatten();
    let conditions = conditions.map(|it| template.condition(it)).collect::<Option<Vec<_>>>()?;
    let columns = [column::EXTERNAL_KEY];
    let key = datum::text(key)?;
    let found = index::find_one(template.table, index, &columns, index::KEY, key, Which::Newest, |found| {
        if found.is_being_changed()
            || found.get(column::DELETED_AT).is_some()
            || !conditions.iter().all(|it| it.ready().holds_for(found))
        {
            return None;
        }
        let id = found.get(column::ID).map(datum::read_uuid)?;
        Some(Holder { id, has_values: assignments.is_unchanged(|it, value| holds(found, it, value)) })
    });
    found.ok()??
}

/// Whether an attribute of a record has this value. Numbers are compared by value, other types by representation.
fn holds(found: &Found, attribute: &Attribute, value: Argument) -> bool {
    match (found.get(attribute.column), value) {
        (Some(stored), Some(value)) if attribute.kind == AttributeType::Number => {
            datum::numerics_are_equal(stored, value)
        }
        (_, value) => found.holds(attribute.column, value),
    }
}

/// The difference between the rows of an UPDATE, by value and not by representation. 1 and 1.0 are equal numbers, as are
/// 0.0 and -0.0, and lists are compared by elements, regardless of array bounds.
pub struct Difference<'t> {
    /// The attributes whose values change.
    pub changed: Vec<&'t Attribute>,
    /// The columns with an equal value in another representation, each with the stored value, which remains.
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

    /// Whether the column has an equal value in another representation.
    pub fn keeps(&self, column: i16) -> bool {
        self.kept.iter().any(|(number, _)| *number == column)
    }
}
