//! The trigger that enforces every rule, for keyed's functions and for direct INSERT and UPDATE.
//!
//! Every external key passes this trigger: `record/released.rs::assign_key` checks and trims it (`value/key.rs::normalize`)
//! and stores it in its column. Functions also normalize keys earlier, to find the record and to reject invalid keys
//! early.

use crate::access::Caller;
use crate::attribute_type::AttributeType;
use crate::embedding;
use crate::error::{Code, Error};
use crate::postgres::datum::{self, Argument};
use crate::postgres::function::{Call, ReturnValue};
use crate::postgres::own_statement::is_own_statement;
use crate::postgres::role::{self, TablePrivilege};
use crate::postgres::spi::connected;
use crate::postgres::trigger::{self, Event, Firing, Row};
use crate::postgres::{guard, transaction};
use crate::quota::{count, usage};
use crate::record::comparison::Difference;
use crate::record::{direct_dml, reference, released, standard};
use crate::template::{Attribute, Template, catalog, column};
use crate::value::change::{Change, Value};
use crate::value::table_name::SideTable;
use crate::value::time;
use pgrx::pg_sys::Datum;
use std::cell::Cell;
use uuid::Uuid;

/// `keyed.guard_record() returns trigger`, before each row.
pub fn guard_record(call: &Call) -> Result<ReturnValue, Error> {
    let firing = Firing::from_call(call)?;
    // Only tables of templates have the columns that are read below.
    let template = catalog::by_table(firing.table)?;
    let row = match (&firing.old, &firing.new) {
        (_, None) => require_removal_privilege().map(|()| firing.pass())?,
        (None, Some(new)) => check_insert(&firing, &template, new)?,
        (Some(old), Some(new)) => check_update(&firing, &template, old, new)?,
    };
    Ok(ReturnValue::Datum(row))
}

/// Only the owner of the tables and superusers may remove rows, because history and references need the row.
fn require_removal_privilege() -> Result<(), Error> {
    if role::has_privileges_of(role::current(), guard::owner()) {
        return Ok(());
    }
    Err(Error::new(Code::Forbidden, "records cannot be removed, only marked as deleted").hint(
        "Call keyed.delete_record(id), or run UPDATE … SET deleted_at = now(). Only a superuser can DELETE rows.",
    ))
}

fn check_insert(firing: &Firing, template: &Template, new: &Row) -> Result<Datum, Error> {
    let mut replaced: Vec<(i16, Argument)> = Vec::new();
    standard::check_insert(template, new, &mut replaced)?;
    for attribute in &template.attributes {
        if let Some(value) = new.get(attribute.column) {
            attribute.kind.check_stored(value, &attribute.rules())?;
            check_target(template, attribute, value)?;
        }
    }
    replaced.extend(released::assign_key(template, None, new)?.replaced);
    let result = firing.replace(&replaced);
    if let Some(writer) = direct_dml::writer(template) {
        direct_dml::check_insert(&writer, template, &firing.row_of(result))?;
    }
    Ok(result)
}

fn check_update(firing: &Firing, template: &Template, old: &Row, new: &Row) -> Result<Datum, Error> {
    for (number, name) in [(column::ID, "id"), (column::CREATED_AT, "created_at")] {
        if !new.same(old, number) {
            return Err(Error::at(
                Code::InvalidValue,
                format!("/{name}"),
                format!("{name} cannot be changed"),
            )
            .hint("Store other ids in external_key, and other times in attributes."));
        }
    }
    let difference = Difference::between(template, old, new);
    let key = released::assign_key(template, Some(old), new)?;
    let is_of_key = |number| number == column::EXTERNAL_KEY || Some(number) == template.released_key;
    let is_equal =
        |number| number == column::UPDATED_AT || is_of_key(number) && key.is_same || difference.keeps(number);
    let is_unchanged = new.same_except(old, is_equal);
    let mut replaced = difference.kept;
    replaced.extend(key.replaced);
    if is_unchanged {
        replaced.push((column::UPDATED_AT, old.get(column::UPDATED_AT)));
        return Ok(firing.replace(&replaced));
    }
    check_deletion(firing, old, new)?;
    let now = transaction::began_at();
    let deleted_at = new.get(column::DELETED_AT).filter(|_| old.get(column::DELETED_AT).is_none());
    let may_set_times = standard::may_set();
    let mut times: Vec<(i16, Argument)> = Vec::new();
    if deleted_at.is_some() && !may_set_times {
        // The deletion policy compares deleted_at with the time of the transaction.
        times.push((column::DELETED_AT, Some(Datum::from(now))));
    }
    if new.get(column::UPDATED_AT).map(datum::read_i64) != Some(now) {
        times.push((column::UPDATED_AT, Some(Datum::from(now))));
    }
    if let Some(writer) = direct_dml::writer(template) {
        // Scopes may refer to these times, and refer to the key by the column of live records.
        let checked = firing.row_of(firing.replace(&times));
        if !direct_dml::check_update(&writer, template, old, &checked)? {
            // A row that is not visible to the writer is skipped, as by a policy.
            return Ok(Datum::from(0usize));
        }
    }
    replaced.extend(times);
    for attribute in difference.changed {
        if let Some(value) = new.get(attribute.column) {
            let rules = attribute.rules();
            match old.get(attribute.column) {
                Some(old) => attribute.kind.check_replaced(old, value, &rules)?,
                None => attribute.kind.check_stored(value, &rules)?,
            }
            check_target(template, attribute, value)?;
        }
    }
    if let Some(deleted_at) = deleted_at {
        BEING_DELETED.set(new.get(column::ID).map(datum::read_uuid));
        if may_set_times {
            time::check_range("deleted_at", datum::read_i64(deleted_at))?;
        }
    }
    Ok(firing.replace(&replaced))
}

/// Setting `deleted_at` requires the privilege DELETE. The time of a deletion cannot be changed.
fn check_deletion(firing: &Firing, old: &Row, new: &Row) -> Result<(), Error> {
    match (old.get(column::DELETED_AT), new.get(column::DELETED_AT)) {
        (Some(_), Some(_)) if !new.same(old, column::DELETED_AT) => Err(Error::at(
            Code::InvalidValue,
            "/deleted_at",
            "deleted_at of a deleted record can only be set to null",
        )
        .hint("Restore the record first: SET deleted_at = null.")),
        (None, Some(_))
            if !is_own_statement(firing.table)
                && !role::has_table_privilege(role::current(), firing.table, TablePrivilege::Delete) =>
        {
            Err(Error::new(
                Code::Forbidden,
                "marking a record as deleted requires the privilege DELETE on the table",
            ))
        }
        _ => Ok(()),
    }
}

/// A reference in direct SQL must point to a live record that is visible to the writer, as in functions. The foreign key
/// by itself would accept deleted and hidden records.
fn check_target(template: &Template, attribute: &Attribute, value: Datum) -> Result<(), Error> {
    if attribute.kind != AttributeType::Reference || is_own_statement(template.table) {
        return Ok(());
    }
    let caller = direct_dml::writer(template).unwrap_or_else(Caller::administrator);
    let id = datum::read_uuid(value);
    if attribute.target.is_some_and(|target| reference::is_live(&caller, target, id)) {
        return Ok(());
    }
    Err(reference::not_found(attribute, &Change::Set(Value::Reference(id))))
}

/// `keyed.guard_delete() returns trigger`, before DELETE.
pub fn guard_delete(_call: &Call) -> Result<ReturnValue, Error> {
    require_removal_privilege()?;
    Ok(ReturnValue::Datum(Datum::from(0usize)))
}

/// `keyed.guard_truncate() returns trigger`, before TRUNCATE.
pub fn guard_truncate(call: &Call) -> Result<ReturnValue, Error> {
    require_removal_privilege()?;
    let template = catalog::by_table(trigger::table_of(call)?)?;
    let live = guard::as_owner(|| {
        connected(|spi| {
            if template.has_documents {
                spi.script(&format!("truncate {}", SideTable::Documents.sql(template.id)));
            }
            if template.vector_schema.is_some() {
                spi.script(&format!("truncate {}", SideTable::Vectors.sql(template.id)));
            }
            usage::live_in(spi, &template.table_sql())
        })
    });
    count::release(&template, live)?;
    embedding::queue::definition::forget(template.id);
    Ok(ReturnValue::Datum(Datum::from(0usize)))
}

thread_local! {
    /// The record that the current statement marks as deleted.
    static BEING_DELETED: Cell<Option<Uuid>> = const { Cell::new(None) };
}

/// Whether the current statement of this session marks the record as deleted.
pub fn is_being_deleted(id: Uuid) -> bool {
    BEING_DELETED.get() == Some(id)
}

/// Resets the record that is being deleted, after its row was written.
pub fn reset_being_deleted() {
    BEING_DELETED.set(None);
}

/// The operation on a record, as history names it.
pub fn operation(firing: &Firing) -> &'static str {
    let deleted = |row: &Option<Row>| row.as_ref().is_some_and(|row| row.get(column::DELETED_AT).is_some());
    match firing.event {
        Event::Insert => "create",
        Event::Delete => "purge",
        Event::Update => match (deleted(&firing.old), deleted(&firing.new)) {
            (false, true) => "delete",
            (true, false) => "restore",
            _ => "update",
        },
    }
}

/// The attributes that differ between the two rows.
pub fn changed_attributes<'t>(template: &'t Template, firing: &Firing) -> Vec<&'t Attribute> {
    let differs = |attribute: &&Attribute| match (&firing.old, &firing.new) {
        (Some(old), Some(new)) => !new.same(old, attribute.column),
        (one, other) => {
            one.as_ref().or(other.as_ref()).is_some_and(|row| row.get(attribute.column).is_some())
        }
    };
    template.attributes.iter().filter(differs).collect()
}
