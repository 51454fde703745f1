//! Compares a record with the values to write, without a statement.
//!
//! Most upserts of an integration find the record unchanged. Looking at the row detects this at a third of the cost
//! of a statement that writes nothing.

use super::argument::BoundAssignments;
use crate::access::visibility::WriteScope;
use crate::attribute_type::AttributeType;
use crate::postgres::datum::{self, Argument};
use crate::postgres::index::{self, Found, Index, Which};
use crate::postgres::transaction;
use crate::template::{Attribute, Template, column};
use uuid::Uuid;

/// The live record with a key.
pub struct Holder {
    /// Its id.
    pub id: Uuid,
    /// Whether nothing would be changed.
    pub has_values: bool,
}

/// The live record with a key that the caller may write; none if only a statement can tell, for example if it must
/// wait for another writer. It is not locked and may change before the write.
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
        Some(Holder { id, has_values: assignments.change_nothing(|it, value| holds(found, it, value)) })
    });
    found.ok()??
}

/// Whether a record has this value of an attribute. A number may be stored with other digits; what else may differ in
/// form is left to a statement to compare.
fn holds(found: &Found, attribute: &Attribute, value: Argument) -> bool {
    match (found.get(attribute.column), value) {
        (Some(stored), Some(value)) if attribute.kind == AttributeType::Number => {
            datum::numerics_are_equal(stored, value)
        }
        (_, value) => found.holds(attribute.column, value),
    }
}
