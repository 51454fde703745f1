//! The outcome of an operation.

use super::operation::OperationKind;
use crate::error::{Code, Error};
use crate::postgres::guard::{Caught, Class, attempt};
use pgrx::prelude::PgSqlErrorCode;
use uuid::Uuid;

/// What became of an operation that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub(super) kind: OperationKind,
    pub(super) id: Uuid,
    pub(super) created: bool,
    pub(super) changed: bool,
}

impl Done {
    /// Whether a record was made.
    pub fn is_created(self) -> bool {
        self.created
    }

    /// Whether anything was written, as far as is known: what was not done by one statement with others counts as such.
    pub fn is_changed(self) -> bool {
        self.changed
    }
}

/// What became of an operation.
pub type Outcome = Result<Done, Error>;

/// Runs one operation so that its refusal undoes just what it did.
pub fn alone(body: impl FnOnce() -> Outcome) -> Result<Outcome, Error> {
    match attempt(body) {
        Ok(outcome) => Ok(outcome),
        Err(caught) => rethrow_unless_local(caught).map(Err),
    }
}

/// An error about the operation becomes its outcome; one about the session or its neighbours ends the request.
pub fn rethrow_unless_local(caught: Box<Caught>) -> Result<Error, Error> {
    let code = match caught.class() {
        Class::IntegrityConstraint if caught.state == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION => {
            Code::Conflict
        }
        Class::IntegrityConstraint if caught.state == PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION => {
            Code::ReferenceNotFound
        }
        Class::Data | Class::IntegrityConstraint | Class::RaisedByTrigger => Code::InvalidValue,
        Class::ProgramLimit => Code::PayloadTooLarge,
        Class::Quota => Code::QuotaExceeded,
        Class::Other => caught.rethrow(),
    };
    match Error::from_raised(&caught.message, caught.detail.as_deref()) {
        Some(error) => Ok(error),
        // A limit of PostgreSQL's own, on temporary files for one, has the same SQLSTATE and is not about the operation.
        None if code == Code::QuotaExceeded => caught.rethrow(),
        None => Ok(Error::new(code, caught.message)),
    }
}
