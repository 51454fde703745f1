//! The types that the columns of a template must have. Values are read from tuples without a conversion, so a
//! `double precision` would be dereferenced as a `numeric`.
//!
//! Therefore a session rejects a template with a column of another type when it loads the template.

use super::{Template, column};
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use crate::postgres::relation;
use crate::value::quote::identifier;
use pgrx::pg_sys::{self, Oid};

/// A column in PostgreSQL's catalog.
pub(super) struct Column<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its type.
    pub(super) kind: Oid,
    /// The name of its type.
    pub(super) kind_name: &'a str,
}

/// The type that a column must have.
pub(super) struct Expected {
    /// The type.
    pub(super) kind: Oid,
    /// Its name.
    pub(super) name: &'static str,
    /// The COLLATE clause of the column.
    pub(super) collation: &'static str,
}

/// Rejects a column whose type was changed.
pub(super) fn require(template: &Template, found: &Column, expected: &Expected) {
    if relation::is_limited(found.kind, expected.kind) {
        return;
    }
    let table = format!("{}.{}", identifier(&template.project_slug), identifier(&template.slug));
    let column = identifier(found.name);
    let Expected { name, collation, .. } = expected;
    Error::new(
        Code::Internal,
        format!("column {column} of table {table} has type {} instead of {name}", found.kind_name),
    )
    .hint(format!(
        "Restore the type as a superuser: alter table {table} alter column {column} type \
         {name}{collation} using {column}::{name}. If values cannot be converted, change the expression \
         after USING."
    ))
    .raise()
}

/// The type of a standard column with this number and name.
pub(super) fn of_standard_column(number: i16, name: &str) -> Option<Expected> {
    let text = || Expected { kind: pg_sys::TEXTOID, name: "text", collation: " collate \"C\"" };
    match number {
        column::ID => Some(Expected { kind: pg_sys::UUIDOID, name: "uuid", collation: "" }),
        column::EXTERNAL_KEY => Some(text()),
        column::CREATED_AT | column::UPDATED_AT | column::DELETED_AT => {
            Some(Expected { kind: pg_sys::TIMESTAMPTZOID, name: "timestamptz", collation: "" })
        }
        _ if name == column::RELEASED_KEY => Some(text()),
        _ => None,
    }
}
