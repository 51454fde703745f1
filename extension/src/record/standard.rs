//! The columns that every table of ours begins with, as an INSERT may fill them: `id`, `created_at`, `updated_at` and
//! `deleted_at`.
//!
//! They are ours. A null is filled as the column's default would be, since many clients send nulls for what they leave
//! to the database. Any other value is refused and not replaced: what somebody sends is either kept or told about. Only
//! the owner of the tables and superusers may bring values along, because a migration or a restore has to.

use crate::error::{Code, Error};
use crate::postgres::datum::{self, Argument};
use crate::postgres::trigger::Row;
use crate::postgres::{guard, random, role, transaction};
use crate::template::{Template, column};
use crate::value::{record_id, time};
use pgrx::pg_sys::Datum;

/// Checks and fills the standard columns of a new row.
pub fn check_insert(
    template: &Template,
    new: &Row,
    replaced: &mut Vec<(i16, Argument)>,
) -> Result<(), Error> {
    match new.get(column::ID).map(datum::read_uuid) {
        None => {
            let id = record_id::generate(template.id, random::next_u64());
            replaced.push((column::ID, datum::uuid(id)));
        }
        Some(id) if record_id::template_of(id) != Some(template.id) => {
            let message = format!("the id {id} does not belong to {}", template.full_name());
            return Err(Error::at(Code::InvalidValue, "/id", message).hint(LEAVE_ID_OUT));
        }
        // The column's default was made by this session a moment ago.
        Some(id) if !record_id::is_fresh(id) && !may_bring_values() => {
            let message = format!("the id {id} was not made by this INSERT: ids are made by the database");
            return Err(Error::at(Code::InvalidValue, "/id", message).hint(LEAVE_ID_OUT));
        }
        Some(_) => {}
    }
    let now = transaction::began_at();
    for (number, name) in [(column::CREATED_AT, "created_at"), (column::UPDATED_AT, "updated_at")] {
        match new.get(number).map(datum::read_i64) {
            None => replaced.push((number, Some(Datum::from(now)))),
            Some(at) if at == now => {}
            Some(_) if !may_bring_values() => {
                let message = format!("{name} of a new record is the time of the transaction");
                return Err(Error::at(Code::InvalidValue, format!("/{name}"), message)
                    .hint(format!("leave {name} out, or send null; your own times belong into attributes")));
            }
            Some(at) => check_range(name, at)?,
        }
    }
    match new.get(column::DELETED_AT).map(datum::read_i64) {
        None => Ok(()),
        Some(_) if !may_bring_values() => {
            Err(Error::at(Code::InvalidValue, "/deleted_at", "a record cannot be created as deleted").hint(
                "leave deleted_at out, and delete the record afterwards: UPDATE … SET deleted_at = now()",
            ))
        }
        Some(at) => check_range("deleted_at", at),
    }
}

const LEAVE_ID_OUT: &str =
    "leave id out, or send null: the database makes one; your own id belongs into external_key";

/// Whether who writes this row may bring standard columns along.
pub fn may_bring_values() -> bool {
    role::has_rights_of(role::current(), guard::owner())
}

/// Refuses a time that no answer could show.
pub fn check_range(name: &str, at: i64) -> Result<(), Error> {
    if time::DATETIME_RANGE.contains(&at) {
        return Ok(());
    }
    let message = format!("{name} must be a time of the years 0001 to 9999");
    Err(Error::at(Code::InvalidValue, format!("/{name}"), message))
}
