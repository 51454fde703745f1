//! An operation of a batch.

use crate::record::key::Key;
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use crate::value::vector::Embedding;
use std::rc::Rc;
use uuid::Uuid;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Create a record; a key that is held is a conflict.
    Create,
    /// Change a live record.
    Update,
    /// Create a record, or change the one that holds the key.
    Upsert,
    /// Mark a live record as deleted.
    Delete,
}

/// One operation, ready to run.
#[derive(Clone)]
pub struct Operation<'a> {
    /// Its position in the request.
    pub index: usize,
    /// What it does.
    pub kind: OperationKind,
    /// Whose record it is.
    pub template: Rc<Template>,
    /// Which record, when it is named by id.
    pub id: Option<Uuid>,
    /// The key: which record, or with an id what its key becomes.
    pub key: Key,
    /// What happens to the attributes.
    pub changes: Changes<'a>,
    /// What happens to the vector.
    pub embedding: Embedding,
}

impl Operation<'_> {
    /// Whether the operation may give a record another key, so that the order among different keys matters.
    pub fn sets_key(&self) -> bool {
        self.id.is_some() && self.key != Key::Absent
    }

    /// Whether one of its references must be looked up by key.
    pub fn refers_by_key(&self) -> bool {
        self.changes.iter().any(|(_, change)| refers_by_key(change))
    }
}

/// Whether a change refers to a record by its key.
pub(super) fn refers_by_key(change: &Change) -> bool {
    matches!(change, Change::Set(Value::ReferenceByKey(_)))
}

/// Takes the changes of some attributes out of others.
pub(super) fn take<'a>(changes: &mut Changes<'a>, positions: &[usize]) -> Changes<'a> {
    let (taken, kept) = std::mem::take(changes).into_iter().partition(|change| positions.contains(&change.0));
    *changes = kept;
    taken
}
