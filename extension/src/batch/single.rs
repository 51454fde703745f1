//! One operation of a batch, by the same functions that serve it alone.

use super::operation::{Operation, OperationKind};
use super::outcome::{Done, Outcome};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::record::embedding::require_writable;
use crate::record::key::Key;
use crate::record::mode::Mode;
use crate::record::version::Preconditions;
use crate::record::{deletion, upsert, write};
use crate::value::change::Changes;
use crate::value::vector::Embedding;
use crate::vectors;

/// Runs an operation.
pub fn run(caller: &Caller, operation: &Operation, changes: Changes) -> Outcome {
    let done = write(caller, operation, changes)?;
    vectors::write::apply(&operation.template, done.id, &operation.embedding)?;
    Ok(done)
}

fn write(caller: &Caller, operation: &Operation, changes: Changes) -> Outcome {
    let (kind, template) = (operation.kind, &operation.template);
    let none = &Preconditions::default();
    let done = |id, created| Done { kind, id, created, changed: true };
    match (kind, operation.id, operation.key.value()) {
        (OperationKind::Create, _, key) => {
            write::create(caller, template, key, changes).map(|(id, _)| done(id, true))
        }
        (OperationKind::Upsert, _, Some(key)) => {
            upsert::upsert(caller, template, Mode::Upsert, key, changes, none)
                .map(|(id, created)| done(id, created))
        }
        (OperationKind::Update, Some(id), _) => {
            caller.require(Action::Update, template)?;
            if operation.embedding != Embedding::Absent {
                require_writable(caller, template, id)?;
            }
            write::update(caller, Action::Update, template, id, &operation.key, changes, none)
                .map(|_| done(id, false))
        }
        (OperationKind::Update, None, Some(key)) => {
            upsert::upsert(caller, template, Mode::Update, key, changes, none).map(|(id, _)| done(id, false))
        }
        (OperationKind::Delete, Some(id), _) => deletion::delete(caller, id, none).map(|()| done(id, false)),
        (OperationKind::Delete, None, Some(key)) => {
            deletion::delete_by_key(caller, template, key, none).map(|id| done(id, false))
        }
        (OperationKind::Upsert | OperationKind::Update | OperationKind::Delete, None, None)
        | (OperationKind::Upsert, Some(_), None) => Err(Error::not_found()),
    }
}

/// Makes the references that had to wait until all records of a cycle exist.
pub fn link(caller: &Caller, operation: &Operation, done: Done, changes: Changes) -> Outcome {
    let action = if done.created { Action::Create } else { Action::Update };
    let none = &Preconditions::default();
    write::update(caller, action, &operation.template, done.id, &Key::Absent, changes, none).map(|_| done)
}
