//! One operation: how it runs without others, and its outcome.

use super::operation::{Operation, OperationKind};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::postgres::caught::{Caught, Class};
use crate::postgres::guard::attempt;
use crate::record::embedding::require_writable;
use crate::record::key::Key;
use crate::record::mode::Mode;
use crate::record::version::Preconditions;
use crate::record::{deletion, upsert, write};
use crate::value::change::Changes;
use crate::value::vector::Embedding;
use crate::vectors;
use pgrx::prelude::PgSqlErrorCode;
use uuid::Uuid;

/// The effect of an accepted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub(super) kind: OperationKind,
    pub(super) id: Uuid,
    pub(super) created: bool,
    pub(super) changed: bool,
}

impl Done {
    /// The record.
    pub fn id(self) -> Uuid {
        self.id
    }

    /// Whether a record was created.
    pub fn is_created(self) -> bool {
        self.created
    }

    /// Whether anything was written. An operation that ran separately counts as a write.
    pub fn is_changed(self) -> bool {
        self.changed
    }
}

/// The effect of an operation, or the error that rejected it.
pub type Outcome = Result<Done, Error>;

/// Runs an operation.
pub fn run(caller: &Caller, operation: &Operation, changes: Changes) -> Outcome {
    let done = write(caller, operation, changes).map_err(at_if_match)?;
    vectors::write::apply(&operation.template, done.id, &operation.embedding)?;
    Ok(done)
}

fn write(caller: &Caller, operation: &Operation, changes: Changes) -> Outcome {
    let (kind, template) = (operation.kind, &operation.template);
    let preconditions = &operation.preconditions;
    let done = |id, created| Done { kind, id, created, changed: true };
    match (kind, operation.id, operation.key.value()) {
        (OperationKind::Create, _, key) => {
            write::create(caller, template, key, changes).map(|(id, _)| done(id, true))
        }
        (OperationKind::Upsert, _, Some(key)) => {
            upsert::upsert(caller, template, Mode::Upsert, key, changes, preconditions)
                .map(|(id, created)| done(id, created))
        }
        (OperationKind::Update, Some(id), _) => {
            caller.require(Action::Update, template)?;
            if operation.embedding != Embedding::Absent {
                require_writable(caller, template, id)?;
            }
            write::update(caller, Action::Update, template, id, &operation.key, changes, preconditions)
                .map(|_| done(id, false))
        }
        (OperationKind::Update, None, Some(key)) => {
            upsert::upsert(caller, template, Mode::Update, key, changes, preconditions)
                .map(|(id, _)| done(id, false))
        }
        (OperationKind::Delete, Some(id), _) => {
            deletion::delete(caller, id, preconditions).map(|()| done(id, false))
        }
        (OperationKind::Delete, None, Some(key)) => {
            deletion::delete_by_key(caller, template, key, preconditions).map(|id| done(id, false))
        }
        (OperationKind::Upsert | OperationKind::Update | OperationKind::Delete, None, None)
        | (OperationKind::Upsert, Some(_), None) => Err(Error::not_found()),
    }
}

/// The error of a failed precondition, with the member that has the precondition.
fn at_if_match(error: Error) -> Error {
    if error.code != Code::PreconditionFailed {
        return error;
    }
    let located = Error::at(error.code, "/if_match", error.message);
    match error.hint {
        Some(hint) => located.hint(hint),
        None => located,
    }
}

/// Sets deferred references, whose records exist now.
pub fn link(caller: &Caller, operation: &Operation, done: Done, changes: Changes) -> Outcome {
    let action = if done.created { Action::Create } else { Action::Update };
    let none = &Preconditions::default();
    write::update(caller, action, &operation.template, done.id, &Key::Absent, changes, none).map(|_| done)
}

/// Runs one operation in a subtransaction, so that an error rolls back only that operation.
pub fn alone(body: impl FnOnce() -> Outcome) -> Outcome {
    attempt(body).catch(of_operation)?
}

/// The error that PostgreSQL raised, if it is about the operation. An error about the session, or about other operations, ends
/// the request.
pub fn of_operation(caught: &Caught) -> Option<Error> {
    let own = Error::from_raised(&caught.message, caught.detail.as_deref());
    if let Some(error) = own.filter(|error| error.code.status() < 500) {
        return Some(error);
    }
    let code = match (caught.class(), caught.state) {
        // A limit of PostgreSQL, for example on temporary files, has the SQLSTATE of a quota and is not about the operation.
        (Class::Other | Class::Quota, _) => return None,
        (Class::ProgramLimit, _) => Code::PayloadTooLarge,
        (_, PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION) => Code::Conflict,
        (_, PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION) => Code::ReferenceNotFound,
        (_, PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE) => Code::Forbidden,
        (_, PgSqlErrorCode::ERRCODE_NO_DATA_FOUND) => Code::NotFound,
        (Class::Data | Class::IntegrityConstraint | Class::Statement, _) => Code::InvalidValue,
    };
    let error = Error::new(code, caught.message.clone());
    Some(match &caught.hint {
        Some(hint) => error.hint(hint.clone()),
        None => error,
    })
}
