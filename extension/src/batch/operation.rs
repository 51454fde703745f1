//! The operations of a batch, and its mode.

use crate::error::{Code, Error};
use crate::record::key::Key;
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use crate::value::vector::Embedding;
use std::rc::Rc;
use uuid::Uuid;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Create a record. A key of another live record is a conflict.
    Create,
    /// Change a live record.
    Update,
    /// Create a record, or change the one with the key.
    Upsert,
    /// Mark a live record as deleted.
    Delete,
}

/// One operation, ready to run.
#[derive(Clone)]
pub struct Operation<'a> {
    /// Its position in the request.
    pub index: usize,
    /// Its kind.
    pub kind: OperationKind,
    /// The template of its record.
    pub template: Rc<Template>,
    /// The record, if the operation names it by id.
    pub id: Option<Uuid>,
    /// The key of the record; with an id, its new key.
    pub key: Key,
    /// The changes of the attributes.
    pub changes: Changes<'a>,
    /// The change of the vector.
    pub embedding: Embedding,
}

impl Operation<'_> {
    /// Whether the operation may give a record another key. Then the order among different keys matters.
    pub fn sets_key(&self) -> bool {
        self.id.is_some() && self.key != Key::Absent
    }

    /// Whether it references a record by its key.
    pub fn refers_by_key(&self) -> bool {
        references_by_key(&self.template, &self.changes).next().is_some()
    }

    /// The record that it may create, or give its key.
    pub(super) fn written_record(&self) -> Option<RecordKey<'_>> {
        let writes = matches!(self.kind, OperationKind::Create | OperationKind::Upsert) || self.sets_key();
        self.key.value().filter(|_| writes).map(|key| (self.template.id, key))
    }
}

/// The template and key of a record.
pub(super) type RecordKey<'k> = (i32, &'k str);

/// The references by key among changes: their attributes and records.
pub(super) fn references_by_key<'c>(
    template: &'c Template,
    changes: &'c Changes,
) -> impl Iterator<Item = (usize, RecordKey<'c>)> {
    changes.iter().filter_map(|(attribute, change)| match change {
        Change::Set(Value::ReferenceByKey(key)) => {
            Some((*attribute, (template.attributes[*attribute].target?, key.as_ref())))
        }
        _ => None,
    })
}

/// Removes the changes of some attributes and returns them.
pub(super) fn take<'a>(changes: &mut Changes<'a>, positions: &[usize]) -> Changes<'a> {
    let (taken, kept) = std::mem::take(changes).into_iter().partition(|change| positions.contains(&change.0));
    *changes = kept;
    taken
}

/// Whether the first rejected operation rolls back all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All operations, or none.
    Atomic(Conflict),
    /// Each operation on its own.
    Each,
}

/// What an upsert does if another transaction has created a record with its key since the batch began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// The whole batch fails. The client may send it again.
    #[default]
    Fail,
    /// It waits for the other transaction, and updates the record.
    Wait,
}

impl Conflict {
    /// Reads a value of `conflict`.
    pub fn parse(name: &str) -> Result<Conflict, Error> {
        match name {
            "fail" => Ok(Conflict::Fail),
            "wait" => Ok(Conflict::Wait),
            _ => Err(Error::at(
                Code::InvalidValue,
                "/conflict",
                format!("{name:?} is not a value of conflict"),
            )
            .hint("Set conflict to \"fail\" or \"wait\".")),
        }
    }
}
