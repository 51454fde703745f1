//! Deletes and restores records.

use super::key::Key;
use super::shown::Rendered;
use super::statement::columns;
use super::version::Preconditions;
use super::write::write_one;
use super::write_error::require_in_scope;
use super::{dropped, precondition, read, released};
use crate::access::visibility::{WriteScope, and, condition_column};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::filter::render::Lives;
use crate::postgres::guard::{self, as_owner};
use crate::postgres::parameter::{IntoParameter, Parameter, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::quota::reserve;
use crate::template::{Template, column};
use uuid::Uuid;

/// Marks a live record as deleted; the trigger releases its key.
pub fn delete(caller: &Caller, id: Uuid, preconditions: &Preconditions) -> Result<(), Error> {
    let template = read::template_of(caller, id, Action::Delete)?;
    let by_id = ("t.id = $1", id.into_parameter());
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
    let by_key = ("t.external_key = $1", key.into_parameter());
    delete_where(caller, template, by_key, preconditions)
}

fn delete_where(
    caller: &Caller,
    template: &Template,
    (condition, argument): (&str, Parameter),
    preconditions: &Preconditions,
) -> Result<Uuid, Error> {
    reserve::for_change(template);
    let write_scope = WriteScope::of(caller, Action::Delete, template);
    let condition = format!("{condition} and t.deleted_at is null");
    if !preconditions.is_empty() {
        let found = read::lock(template, &condition, &write_scope, argument);
        let id = require_in_scope(caller, Action::Delete, template, found)?;
        precondition::require_of_locked(caller, template, id, preconditions)?;
    }
    let sql = format!(
        "update {} t set deleted_at = now(), updated_at = now() where {condition}{} returning t.id",
        template.table_sql(),
        and(write_scope.writable.as_deref())
    );
    let run = || {
        as_owner(|| {
            connected(|spi| {
                let plan = template.plan(&sql, &[argument]);
                template.write(spi, &plan, &[argument]).value::<Uuid>()
            })
        })
    };
    if let Some(deleted) = run() {
        return Ok(deleted);
    }
    let may_be_dropped = dropped::is_possible(template, &[Event::Update]);
    if !write_scope.is_open() || may_be_dropped {
        let found = read::lock(template, &condition, &write_scope, argument);
        require_in_scope(caller, Action::Delete, template, found)?;
    }
    match may_be_dropped {
        // The row is locked, so only a trigger can prevent the deletion.
        true => run().ok_or_else(|| dropped::error(template)),
        false => Err(Error::not_found()),
    }
}

/// Restores a deleted record with its former key or a new one.
pub fn restore(
    caller: &Caller,
    id: Uuid,
    key: &Key,
    preconditions: &Preconditions,
) -> Result<Rendered, Error> {
    let template = read::template_of(caller, id, Action::Update)?;
    reserve::for_creation(&template);
    template.released_key.ok_or_else(guard::not_migrated)?;
    // Covers both states of the record: deleted, then live.
    let write_scope = WriteScope::over(Lives::Any, caller, Action::Update, &template);
    let old_key = as_owner(|| {
        let sql = format!(
            "select {}, t.deleted_at{} from {} t where t.id = $1{} for no key update",
            released::shown_sql(&template),
            condition_column(write_scope.writable.as_deref()),
            template.table_sql(),
            and(write_scope.visible.as_deref())
        );
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![id]);
            if rows.is_empty() {
                return Err(Error::not_found());
            }
            if rows.get::<Option<i64>>(0, 1).is_none() {
                return Err(Error::new(Code::Conflict, "the record is not deleted"));
            }
            if !rows.get::<Option<bool>>(0, 2).unwrap_or_default() {
                return Err(caller.out_of_scope(Action::Update, &template));
            }
            Ok(rows.get::<Option<String>>(0, 0))
        })
    })?;
    precondition::require_of_locked(caller, &template, id, preconditions)?;
    let requested = match key {
        Key::Absent => old_key.map_or(Key::Null, Key::Value),
        given => given.clone(),
    };
    // No condition on deleted_at: the record is locked, and the planner might choose the index of deleted records, which
    // contains all of them.
    let sql = format!(
        "update {} t set deleted_at = null, external_key = $2, {} = null, updated_at = now() where t.id = $1 \
         returning {}{}",
        template.table_sql(),
        column::RELEASED_KEY,
        columns(&template),
        condition_column(write_scope.writable.as_deref())
    );
    let arguments = params![id, requested.value()];
    let restored =
        write_one(caller, Action::Update, &template, &sql, &arguments, &requested).map_err(|error| {
            match error.code {
                Code::ExternalKeyTaken => {
                    error.hint("Send another external_key, or null to restore the record without a key.")
                }
                _ => error,
            }
        })?;
    restored.ok_or_else(|| match dropped::is_possible(&template, &[Event::Update]) {
        true => dropped::error(&template),
        false => Error::not_found(),
    })
}
