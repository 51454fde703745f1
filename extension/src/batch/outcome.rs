//! The outcome of an operation.

use super::operation::OperationKind;
use crate::error::{Code, Error};
use crate::postgres::caught::{Caught, Class};
use crate::postgres::guard::attempt;
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
pub fn alone(body: impl FnOnce() -> Outcome) -> Outcome {
    attempt(body).catch(of_operation)?
}

/// The error of the operation that PostgreSQL raised, if it is the operation's: one about the session or its neighbours ends
/// the request.
pub fn of_operation(caught: &Caught) -> Option<Error> {
    let own = Error::from_raised(&caught.message, caught.detail.as_deref());
    if let Some(error) = own.filter(|error| error.code.status() < 500) {
        return Some(error);
    }
    let code = match (caught.class(), caught.state) {
        // A limit of PostgreSQL's own, on temporary files for one, has the SQLSTATE of a quota, and is not about the operation.
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
