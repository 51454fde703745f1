//! The trigger that keeps every rule, whoever writes: our functions, or an INSERT or UPDATE typed in psql.

use super::{read, reference, time, value};
use crate::access::sight::Fence;
use crate::access::{Caller, Right};
use crate::embedding;
use crate::error::{Code, Error};
use crate::key;
use crate::postgres::datum::{self, Argument};
use crate::postgres::function::{Answer, Call};
use crate::postgres::guard;
use crate::postgres::role::{self, TableRight};
use crate::postgres::spi::connected;
use crate::postgres::trigger::{self, Event, Firing, Row};
use crate::quota::{count, usage};
use crate::record_id;
use crate::search::text;
use crate::template::definition::Kind;
use crate::template::{Attribute, Template, catalog, column};
use pgrx::pg_sys::{self, Datum};
use std::cell::Cell;
use uuid::Uuid;

/// `keyed.guard_record() returns trigger`, before each row.
pub fn guard_record(call: &Call) -> Result<Answer, Error> {
    let firing = Firing::from_call(call)?;
    // Only a table of ours is known to have the columns that are looked at below.
    let template = catalog::by_table(firing.table)?;
    let row = match (&firing.old, &firing.new) {
        (_, None) => refuse_removal().map(|()| firing.pass())?,
        (None, Some(new)) => check_insert(&firing, &template, new)?,
        (Some(old), Some(new)) => check_update(&firing, &template, old, new)?,
    };
    Ok(Answer::Datum(row))
}

/// A row that vanishes takes its key, its references and the subject of its history along: only the owner of the
/// tables, or a superuser, may do that.
fn refuse_removal() -> Result<(), Error> {
    if role::has_rights_of(role::current(), guard::owner()) {
        return Ok(());
    }
    Err(Error::new(Code::Forbidden, "records are not removed, they are marked as deleted").hint(
        "call keyed.delete_record(id), or UPDATE … SET deleted_at = now(); a superuser can DELETE for good",
    ))
}

fn check_insert(firing: &Firing, template: &Template, new: &Row) -> Result<Datum, Error> {
    if let Some(id) = new.get(column::ID) {
        let id = datum::read_uuid(id);
        if record_id::template_of(id) != Some(template.id) {
            let message = format!("the id {id} does not belong to {}", template.full_name());
            return Err(Error::at(Code::InvalidValue, "/id", message)
                .hint("leave id out: its default makes one; your own id belongs into external_key"));
        }
    }
    for attribute in &template.attributes {
        if let Some(value) = new.get(attribute.column) {
            check_value(attribute, value)?;
            check_target(attribute, value)?;
        }
    }
    let mut replaced: Vec<(i16, Argument)> = Vec::new();
    normalize_key(new, &mut replaced)?;
    Ok(firing.replace(&replaced))
}

fn check_update(firing: &Firing, template: &Template, old: &Row, new: &Row) -> Result<Datum, Error> {
    for (number, name) in [(column::ID, "id"), (column::CREATED_AT, "created_at")] {
        if !new.same(old, number) {
            return Err(Error::at(
                Code::InvalidValue,
                format!("/{name}"),
                format!("{name} cannot be changed"),
            )
            .hint("your own id belongs into external_key, your own times into attributes"));
        }
    }
    if new.same_except(old, column::UPDATED_AT) {
        return Ok(firing.replace(&[(column::UPDATED_AT, old.get(column::UPDATED_AT))]));
    }
    check_deletion(firing, old, new)?;
    if !is_within_reach(template, old, new)? {
        // A row out of its writer's sight is passed over, as a policy would have it.
        return Ok(Datum::from(0usize));
    }
    for attribute in &template.attributes {
        if let Some(value) = new.get(attribute.column)
            && !new.same(old, attribute.column)
        {
            check_value(attribute, value)?;
            check_target(attribute, value)?;
        }
    }
    let mut replaced: Vec<(i16, Argument)> = Vec::new();
    if !new.same(old, column::EXTERNAL_KEY) {
        normalize_key(new, &mut replaced)?;
    }
    // SAFETY: reads a variable of the session.
    let now = unsafe { pg_sys::GetCurrentTransactionStartTimestamp() };
    if new.get(column::DELETED_AT).is_some() && old.get(column::DELETED_AT).is_none() {
        BEING_DELETED.set(new.get(column::ID).map(datum::read_uuid));
        // The policies of those who may delete know a record that is deleted now by this time.
        if !role::has_rights_of(role::current(), guard::owner()) {
            replaced.push((column::DELETED_AT, Some(Datum::from(now))));
        }
    }
    if new.get(column::UPDATED_AT).map(datum::read_i64) != Some(now) {
        replaced.push((column::UPDATED_AT, Some(Datum::from(now))));
    }
    Ok(firing.replace(&replaced))
}

/// Marking as deleted is a right of its own, and when it happened is not rewritten.
fn check_deletion(firing: &Firing, old: &Row, new: &Row) -> Result<(), Error> {
    match (old.get(column::DELETED_AT), new.get(column::DELETED_AT)) {
        (Some(_), Some(_)) if !new.same(old, column::DELETED_AT) => Err(Error::at(
            Code::InvalidValue,
            "/deleted_at",
            "deleted_at of a deleted record cannot be changed",
        )
        .hint("restore the record first: SET deleted_at = null")),
        (None, Some(_))
            if !guard::is_own_work()
                && !role::has_table_right(role::current(), firing.table, TableRight::Delete) =>
        {
            Err(Error::new(
                Code::Forbidden,
                "to mark a record as deleted needs the privilege DELETE on the table",
            ))
        }
        _ => Ok(()),
    }
}

/// The policies of a table are alternatives to each other: one that lets a role delete also lets it take a record into
/// its hands that it may not change, and the other way round; and a statement that reads nothing meets no policy of
/// reading. So a writer whose rights differ is held to the one that this is. False for a row that it does not see.
fn is_within_reach(template: &Template, old: &Row, new: &Row) -> Result<bool, Error> {
    if guard::is_own_work() || !role::is_under_policies(role::current(), template.table) {
        return Ok(true);
    }
    let is_deletion = old.get(column::DELETED_AT).is_none() && new.get(column::DELETED_AT).is_some();
    if !is_deletion {
        return is_within(template, old, Right::Update, Right::Delete);
    }
    let changes = !new.same(old, column::EXTERNAL_KEY)
        || template.attributes.iter().any(|attribute| !new.same(old, attribute.column));
    Ok(is_within(template, old, Right::Delete, Right::Update)?
        && (!changes || is_within(template, old, Right::Update, Right::Delete)?))
}

/// Whether a row is one that a writer may use this right on, as far as another right could have let it in.
fn is_within(template: &Template, old: &Row, right: Right, other: Right) -> Result<bool, Error> {
    let caller = Caller::of_role(role::current());
    let Some(own) = caller.reach(right, template) else { return Ok(true) };
    let fence = Fence::of(&caller, right, template);
    if caller.reach(other, template).is_none_or(|others| others == own) && fence.seen == own {
        return Ok(true);
    }
    let id = old.get(column::ID).map(datum::read_uuid).ok_or_else(Error::not_found)?;
    match read::by_fence(template, id, &fence) {
        Some(standing) if standing.is_seen && !standing.is_within => Err(caller.outside(right, template)),
        standing => Ok(standing.is_some_and(|standing| standing.is_seen)),
    }
}

fn normalize_key(new: &Row, replaced: &mut Vec<(i16, Argument)>) -> Result<(), Error> {
    let Some(key) = new.get(column::EXTERNAL_KEY) else { return Ok(()) };
    datum::with_text(key, |text| {
        let normalized = key::normalize(text)?;
        if normalized.len() != text.len() {
            replaced.push((column::EXTERNAL_KEY, datum::text(normalized)));
        }
        Ok(())
    })
}

/// A reference typed by hand must name a live record that its writer sees, like one that a function was given: the
/// foreign key alone would be content with a deleted or hidden one.
fn check_target(attribute: &Attribute, value: Datum) -> Result<(), Error> {
    if attribute.kind != Kind::Reference || guard::is_own_work() {
        return Ok(());
    }
    let caller = Caller::current();
    if attribute.target.is_some_and(|target| reference::is_live(&caller, target, datum::read_uuid(value))) {
        return Ok(());
    }
    Err(reference::not_found(attribute))
}

/// `keyed.guard_delete() returns trigger`, before DELETE.
pub fn guard_delete(_call: &Call) -> Result<Answer, Error> {
    refuse_removal()?;
    Ok(Answer::Datum(Datum::from(0usize)))
}

/// `keyed.guard_truncate() returns trigger`, before TRUNCATE.
pub fn guard_truncate(call: &Call) -> Result<Answer, Error> {
    refuse_removal()?;
    let template = catalog::by_table(trigger::table_of(call)?)?;
    let live = guard::as_owner(|| {
        connected(|spi| {
            if template.has_documents {
                spi.script(&format!("truncate {}", text::table::table_sql(template.id)));
            }
            if template.vector_schema.is_some() {
                spi.script(&format!("truncate {}", embedding::table::table_sql(template.id)));
            }
            usage::live_in(spi, &template.table_sql())
        })
    });
    count::give_back(&template, live)?;
    embedding::queue::definition::forget(template.id);
    Ok(Answer::Datum(Datum::from(0usize)))
}

/// The rules of a value that its column type alone does not keep.
fn check_value(attribute: &Attribute, datum: Datum) -> Result<(), Error> {
    let refuse = |message: &str| Err(Error::at(Code::InvalidValue, &attribute.pointer, message));
    match attribute.kind {
        Kind::String => {
            datum::with_text(datum, |text| value::check_text_size(text.len(), &attribute.pointer))
        }
        Kind::Number => {
            let mut digits = String::new();
            datum::write_numeric(&mut digits, datum);
            if digits.ends_with(|last: char| last.is_ascii_alphabetic()) {
                return refuse("must be a finite number");
            }
            if digits.len() > 2 * value::MAX_NUMBER_DIGITS {
                return refuse("has too many digits");
            }
            Ok(())
        }
        Kind::Metric if !datum::read_f64(datum).is_finite() => refuse("must be a finite number"),
        Kind::List => {
            let Some(list) = datum::read_text_array(datum) else {
                return refuse("must be a one-dimensional array without nulls");
            };
            if list.len() > value::MAX_LIST_ELEMENTS {
                return refuse("has too many elements");
            }
            value::check_text_size(list.iter().map(String::len).sum(), &attribute.pointer)?;
            list.iter().try_for_each(|item| {
                value::check_element_size(item.len(), &attribute.pointer)?;
                value::check_option(attribute.options.as_deref(), item, &attribute.pointer)
            })
        }
        Kind::Date if !time::DATE_RANGE.contains(&datum::read_i32(datum)) => {
            refuse("must be a date of the years 0001 to 9999")
        }
        Kind::DateTime if !time::DATETIME_RANGE.contains(&datum::read_i64(datum)) => {
            refuse("must be a time of the years 0001 to 9999")
        }
        Kind::Metric | Kind::Date | Kind::DateTime | Kind::Reference => Ok(()),
    }
}

thread_local! {
    /// The record that a statement at hand is marking as deleted.
    static BEING_DELETED: Cell<Option<Uuid>> = const { Cell::new(None) };
}

/// Whether a record is being marked as deleted at this very moment, by a statement of this session.
pub fn is_being_deleted(id: Uuid) -> bool {
    BEING_DELETED.get() == Some(id)
}

/// The record is deleted: from now on nobody sees it any more.
pub fn is_deleted() {
    BEING_DELETED.set(None);
}

/// What happened to a record, as history names it.
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
