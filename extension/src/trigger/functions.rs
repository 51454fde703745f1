//! The trigger functions.

use super::{before_row, history};
use crate::postgres::function::{ReturnValue, sql_functions};
use pgrx::pg_sys::Datum;

sql_functions! {
    /// `keyed.guard_record() returns trigger`.
    keyed_guard_record => before_row::guard_record;

    /// `keyed.is_being_deleted(id uuid) returns boolean`.
    keyed_is_being_deleted => |call| {
        Ok(ReturnValue::Datum(Datum::from(call.uuid(0).is_some_and(before_row::is_being_deleted))))
    };

    /// `keyed.guard_delete() returns trigger`.
    keyed_guard_delete => before_row::guard_delete;

    /// `keyed.guard_truncate() returns trigger`.
    keyed_guard_truncate => before_row::guard_truncate;

    /// `keyed.note_history() returns trigger`.
    keyed_note_history => history::note_history;

    /// `keyed.write_history() returns trigger`.
    keyed_write_history => history::write_history;
}
