//! Deletes and restores records.

use super::key::Key;
use super::refusal::require_in_scope;
use super::shown::Shown;
use super::statement::columns;
use super::version::Preconditions;
use super::write::write_one;
use super::{precondition, read, released};
use crate::access::visibility::{WriteScope, and, condition_column};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::filter::render::Lives;
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard::{self, as_owner};
use crate::postgres::spi::{Snapshot, connected};
use crate::quota::reserve;
use crate::template::{Template, column};
use pgrx::pg_sys;
use uuid::Uuid;

/// Marks a live record as deleted; the trigger releases its key.
pub fn delete(caller: &Caller, id: Uuid, preconditions: &Preconditions) -> Result<(), Error> {
    let template = read::template_of(caller, id, Action::Delete)?;
    let by_id = ("t.id = $1", pg_sys::UUIDOID, datum::uuid(id));
    delete_where(caller, &template, by_id, preconditions).map(|_| ())
}

/// Marks the live record with the key as deleted, and returns its id.
pub fn delete_by_key(
    caller: &Caller,
    template: &Template,
    key: &str,
    preconditions: &Preconditions,
) -> Result<Uuid, Error> {
    caller.require(Action::Delete, template)?;
    let Ok(key) = crate::value::key::normalize(key) else { return Err(Error::not_found()) };
    let by_key = ("t.external_key = $1", pg_sys::TEXTOID, datum::text(key));
    delete_where(caller, template, by_key, preconditions)
}

fn delete_where(
    caller: &Caller,
    template: &Template,
    (condition, parameter, argument): (&str, pg_sys::Oid, Argument),
    preconditions: &Preconditions,
) -> Result<Uuid, Error> {
    reserve::for_change(template);
    let write_scope = WriteScope::of(caller, Action::Delete, template);
    let condition = format!("{condition} and t.deleted_at is null");
    if !preconditions.are_none() {
        let found = read::lock(template, &condition, &write_scope, parameter, argument);
        let id = require_in_scope(caller, Action::Delete, template, found)?;
        precondition::require_of_locked(caller, template, id, preconditions)?;
    }
    let sql = format!(
        "update {} t set deleted_at = now(), updated_at = now() where {condition}{} returning t.id",
        template.table_sql(),
        and(write_scope.writable.as_deref())
    );
    let deleted = as_owner(|| {
        let plan = template.plan(&sql, || vec![parameter]);
        connected(|spi| {
            let rows = template.write(spi, &plan, &[argument]);
            if rows.is_empty() { None } else { rows.get(0, 0).map(datum::read_uuid) }
        })
    });
    if deleted.is_none() && !write_scope.is_open() {
        let found = read::lock(template, &condition, &write_scope, parameter, argument);
        require_in_scope(caller, Action::Delete, template, found)?;
    }
    deleted.ok_or_else(Error::not_found)
}

/// Brings a deleted record back, with its old key or with the one given.
pub fn restore(caller: &Caller, id: Uuid, key: &Key, preconditions: &Preconditions) -> Result<Shown, Error> {
    let template = read::template_of(caller, id, Action::Update)?;
    reserve::for_creation(&template);
    template.released_key.ok_or_else(guard::not_migrated)?;
    // The record is judged as it is and as it will be: deleted, then live.
    let write_scope = WriteScope::over(Lives::Any, caller, Action::Update, &template);
    let old_key = as_owner(|| {
        let sql = format!(
            "select {}, t.deleted_at{} from {} t where t.id = $1{} for no key update",
            released::shown_sql(&template),
            condition_column(write_scope.writable.as_deref()),
            template.table_sql(),
            and(write_scope.visible.as_deref())
        );
        let plan = template.plan(&sql, || vec![pg_sys::UUIDOID]);
        connected(|spi| {
            let rows = spi.run(&plan, Snapshot::Latest, &[datum::uuid(id)]);
            if rows.is_empty() {
                return Err(Error::not_found());
            }
            if rows.get(0, 1).is_none() {
                return Err(Error::new(Code::Conflict, "the record is not deleted"));
            }
            if !rows.get(0, 2).is_some_and(datum::read_bool) {
                return Err(caller.outside(Action::Update, &template));
            }
            Ok(rows.get(0, 0).map(datum::read_text))
        })
    })?;
    precondition::require_of_locked(caller, &template, id, preconditions)?;
    let wanted = match key {
        Key::Absent => old_key.map_or(Key::Null, Key::Value),
        given => given.clone(),
    };
    // The record is locked, and deleted. To ask for that again would offer PostgreSQL the index of deleted records as a
    // way to it, and all of them are in there.
    let sql = format!(
        "update {} t set deleted_at = null, external_key = $2, {} = null, updated_at = now() where t.id = $1 \
         returning {}{}",
        template.table_sql(),
        column::RELEASED_KEY,
        columns(&template),
        condition_column(write_scope.writable.as_deref())
    );
    let arguments = [datum::uuid(id), datum::optional_text(wanted.value())];
    let types = vec![pg_sys::UUIDOID, pg_sys::TEXTOID];
    let restored =
        write_one(caller, Action::Update, &template, &sql, types, &arguments, &wanted).map_err(|error| {
            match error.code {
                Code::ExternalKeyTaken => error.hint(
                    "send {\"external_key\": \"another\"}, or null to restore the record without a key",
                ),
                _ => error,
            }
        })?;
    restored.ok_or_else(Error::not_found)
}
