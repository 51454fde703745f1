//! Errors that writes share.

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

/// How often a writer that keeps losing to others tries before it gives up.
pub(super) const MOST_TRIES: usize = 10;

/// The refusal of a write that others kept getting in the way of.
pub(super) fn gave_up() -> Error {
    Error::new(Code::SerializationFailure, "concurrent writes to this key kept conflicting")
        .hint("Run the transaction again.")
}

/// The refusal of a key that another live record holds.
pub fn key_taken(caller: &Caller, template: &Template, key: &str) -> Error {
    let message = format!("another live record of {} has the external_key {key:?}", template.full_name());
    let may_read = caller.require(Action::Read, template).is_ok();
    let holder = may_read
        .then(|| read::holder(template, key, &WriteScope::of(caller, Action::Read, template)))
        .flatten();
    let hint = if may_read && holder.as_ref().is_none_or(|holder| holder.is_visible) {
        "Send another key, or write to that record with PUT …/by-key or keyed.upsert_by_key."
    } else {
        "Send another key: this one belongs to a record that you may not see."
    };
    let existing_id = holder.filter(|holder| holder.is_visible).map(|holder| holder.id);
    let error =
        Error { existing_id, ..Error::at(Code::ExternalKeyTaken, "/external_key", message) }.hint(hint);
    let row = format!("select from {} where external_key = $1 and deleted_at is null", template.table_sql());
    snapshot::newer_row_error(error, &row, &params![key])
}

/// Whether a trigger may have dropped a record that was not inserted: no record has its key. Another writer may have deleted
/// the one that had it in the meantime, so only [`dropped::CERTAIN_TRIES`] tells.
pub fn is_insert_dropped(template: &Template, key: Option<&str>) -> bool {
    dropped::is_possible(template, &[Event::Insert])
        && key.is_none_or(|key| read::id_by_key(template, key).is_none())
}

/// The error of a record that was not inserted: its key is taken, or a trigger dropped the write.
pub fn not_inserted(caller: &Caller, template: &Template, key: Option<&str>) -> Error {
    match is_insert_dropped(template, key) {
        true => dropped::error(template),
        false => key_taken(caller, template, key.unwrap_or_default()),
    }
}

/// Refuses a record that is not there for the caller, or that the caller may not write.
pub fn require_in_scope(
    caller: &Caller,
    action: Action,
    template: &Template,
    found: Option<FoundRecord>,
) -> Result<Uuid, Error> {
    match found {
        Some(FoundRecord { is_visible: true, is_writable: true, id }) => Ok(id),
        Some(FoundRecord { is_visible: true, .. }) => Err(caller.outside(action, template)),
        _ => Err(Error::not_found()),
    }
}
