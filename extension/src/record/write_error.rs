//! Errors of several write operations.

use super::dropped;
use super::read::{self, FoundRecord};
use crate::access::visibility::WriteScope;
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::snapshot;
use crate::postgres::trigger::Event;
use crate::template::Template;
use uuid::Uuid;

/// The maximum number of attempts of a write that conflicts with concurrent writes.
pub(super) const MAX_TRIES: usize = 10;

/// The error for a write that kept conflicting with concurrent writes.
pub(super) fn write_conflict() -> Error {
    Error::new(Code::SerializationFailure, "could not write the record due to concurrent writes to its key")
        .hint("Retry the transaction.")
}

/// The error for a key that another live record has.
pub fn key_taken(caller: &Caller, template: &Template, key: &str) -> Error {
    let message = format!("another live record of {} has the external_key {key:?}", template.full_name());
    let may_read = caller.require(Action::Read, template).is_ok();
    let holder = may_read
        .then(|| read::holder(template, key, &WriteScope::of(caller, Action::Read, template)))
        .flatten();
    let hint = if may_read && holder.as_ref().is_none_or(|holder| holder.is_visible) {
        "Send another key, or write to that record with PUT …/by-key or keyed.upsert_by_key."
    } else {
        "Send another key. The record with this key is not visible to you."
    };
    let existing_id = holder.filter(|holder| holder.is_visible).map(|holder| holder.id);
    let error =
        Error { existing_id, ..Error::at(Code::ExternalKeyTaken, "/external_key", message) }.hint(hint);
    let row = format!("select from {} where external_key = $1 and deleted_at is null", template.table_sql());
    snapshot::newer_row_error(error, &row, &params![key])
}

/// Whether a trigger may have dropped a record that was not inserted: no record has its key. A concurrent writer may have
/// deleted the record with the key, so this is certain only after [`dropped::ATTEMPTS_UNTIL_DROPPED`].
pub fn is_insert_dropped(template: &Template, key: Option<&str>) -> bool {
    dropped::is_possible(template, &[Event::Insert])
        && key.is_none_or(|key| read::id_by_key(template, key).is_none())
}

/// The error for a record that was not inserted: its key is taken, or a trigger dropped the write.
pub fn not_inserted(caller: &Caller, template: &Template, key: Option<&str>) -> Error {
    match is_insert_dropped(template, key) {
        true => dropped::error(template),
        false => key_taken(caller, template, key.unwrap_or_default()),
    }
}

/// Rejects a record that is not visible to the caller, or that the caller may not write.
pub fn require_in_scope(
    caller: &Caller,
    action: Action,
    template: &Template,
    found: Option<FoundRecord>,
) -> Result<Uuid, Error> {
    match found {
        Some(FoundRecord { is_visible: true, is_writable: true, id }) => Ok(id),
        Some(FoundRecord { is_visible: true, .. }) => Err(caller.out_of_scope(action, template)),
        _ => Err(Error::not_found()),
    }
}
