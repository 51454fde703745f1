//! Create a record, or update the one that holds the key: one statement on the common path, and never a doubt
//! which of the two it was.

use super::changes::{self, Changes};
use super::statement::{self, Assignments, Verb};
use super::write::{Key, key_and_values, key_taken};
use super::{read, reference};
use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::template::Template;
use crate::{json, key, metric, record_id};
use pgrx::pg_sys;
use serde_json::value::RawValue;
use uuid::Uuid;

/// How often a writer that keeps losing to others tries before it gives up.
const MOST_TRIES: usize = 10;

/// Which branches an upsert may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Both.
    #[default]
    Upsert,
    /// Only create: a key that is held is a conflict.
    Create,
    /// Only update: a key that nobody holds is not found.
    Update,
}

impl Mode {
    /// The mode of that name; absent means upsert.
    pub fn parse(name: Option<&str>) -> Result<Mode, Error> {
        match name {
            None | Some("upsert") => Ok(Mode::Upsert),
            Some("create") => Ok(Mode::Create),
            Some("update") => Ok(Mode::Update),
            Some(other) => Err(Error::at(Code::InvalidValue, "/mode", format!("{other:?} is not a mode"))
                .hint("the modes are upsert, create and update")),
        }
    }
}

/// Reads the member `external_key` of a body: a string, or null.
pub fn parse_key(value: &RawValue) -> Result<Key, Error> {
    if json::is_null(value) {
        return Ok(Key::Null);
    }
    if !value.get().starts_with('"') {
        return Err(Error::at(Code::InvalidExternalKey, "/external_key", "external_key must be a string")
            .hint("write numbers as strings too: \"42\""));
    }
    let text: std::borrow::Cow<str> = serde_json::from_str(value.get()).map_err(|error| {
        Error::new(Code::MalformedRequest, format!("external_key cannot be read: {error}"))
    })?;
    key::normalize(&text).map(|key| Key::Value(key.to_owned()))
}

/// Refuses a caller without the rights that the branches of an upsert need.
pub fn require_rights(caller: &Caller, template: &Template, mode: Mode) -> Result<(), Error> {
    if mode != Mode::Update {
        caller.require(Right::Create, template)?;
    }
    if mode != Mode::Create {
        caller.require(Right::Update, template)?;
    }
    Ok(())
}

/// Writes to the live record of the template that holds `key`, creating it when there is none. The key is
/// normalised. Returns the record's id and whether it was created.
pub fn upsert(
    caller: &Caller,
    template: &Template,
    mode: Mode,
    key: &str,
    mut changes: Changes,
) -> Result<(Uuid, bool), Error> {
    require_rights(caller, template, mode)?;
    reference::resolve(caller, template, &mut changes)?;
    metric::stamp(&mut changes);
    let complete = changes::is_complete(template, &changes);
    let (id, created) = match mode {
        Mode::Create => {
            changes::check_complete(template, &changes)?;
            (insert(template, key, &changes).ok_or_else(|| key_taken(caller, template, key))?, true)
        }
        Mode::Update => (update(template, key, &changes).ok_or_else(Error::not_found)?, false),
        Mode::Upsert if complete && metric::has_points(&changes) => lock_then_write(template, key, &changes)?,
        Mode::Upsert if complete => insert_or_update(template, key, &changes)?,
        Mode::Upsert => update_or_insert(template, key, &changes)?,
    };
    metric::append(template, id, &changes);
    Ok((id, created))
}

/// The one statement. Its row tells the branch: a new id means created, another one means updated. No row means
/// that the record holds these values already; then it is locked by us and can be read.
fn insert_or_update(template: &Template, key: &str, changes: &Changes) -> Result<(Uuid, bool), Error> {
    let assignments = Assignments::new(template, changes);
    as_owner(|| {
        let sql = || statement::upsert(template, &assignments);
        let plan = template.plan_of(&assignments.name(Verb::Upsert), sql, || key_and_values(&assignments));
        for _ in 0..MOST_TRIES {
            let id = record_id::generate(template.id, datum::random_u64());
            let written = connected(|spi| {
                let mut arguments = vec![datum::uuid(id), datum::text(key)];
                arguments.extend_from_slice(&assignments.arguments);
                let rows = spi.run(&plan, Access::Latest, &arguments);
                (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()
            });
            if let Some(written) = written {
                return Ok((written, written == id));
            }
            if let Some(existing) = read::id_by_key(template, key) {
                return Ok((existing, false));
            }
        }
        Err(gave_up())
    })
}

/// The way of an upsert that appends to a series. Which point is the latest is read from the series, and a statement
/// that has to wait for another writer would read it as it was before: so the row is locked by a statement of its own.
fn lock_then_write(template: &Template, key: &str, changes: &Changes) -> Result<(Uuid, bool), Error> {
    for _ in 0..MOST_TRIES {
        if let Some(id) = update(template, key, changes) {
            return Ok((id, false));
        }
        if let Some(id) = insert(template, key, changes) {
            return Ok((id, true));
        }
    }
    Err(gave_up())
}

/// The way of an upsert that does not list every required attribute. PostgreSQL checks NOT NULL before it looks for
/// a conflict, so the record must be found first; only when there is none does the lack matter.
fn update_or_insert(template: &Template, key: &str, changes: &Changes) -> Result<(Uuid, bool), Error> {
    match update(template, key, changes) {
        Some(id) => Ok((id, false)),
        None => Err(changes::check_complete(template, changes).err().unwrap_or_else(gave_up)),
    }
}

fn insert(template: &Template, key: &str, changes: &Changes) -> Option<Uuid> {
    let assignments = Assignments::new(template, changes);
    as_owner(|| {
        let sql = || statement::insert(template, &assignments, "t.id");
        let plan = template.plan_of(&assignments.name(Verb::Insert), sql, || key_and_values(&assignments));
        let id = record_id::generate(template.id, datum::random_u64());
        connected(|spi| {
            let mut arguments = vec![datum::uuid(id), datum::text(key)];
            arguments.extend_from_slice(&assignments.arguments);
            let rows = spi.run(&plan, Access::Latest, &arguments);
            (!rows.is_empty()).then_some(id)
        })
    })
}

/// Updates the live record that holds the key. No row written can mean three things: the values are there already,
/// nobody holds the key, or the record that was waited for gave the key away to one that the statement did not see
/// yet. A lock tells them apart: once it is held, the same statement again can only miss because nothing differs.
fn update(template: &Template, key: &str, changes: &Changes) -> Option<Uuid> {
    let assignments = Assignments::new(template, changes);
    if assignments.is_empty() {
        return read::id_by_key(template, key);
    }
    let run = || update_once(template, key, &assignments);
    for _ in 0..MOST_TRIES {
        // Which point of a series is the latest would be read too early by a statement that has to wait.
        if !metric::has_points(changes)
            && let Some(id) = run()
        {
            return Some(id);
        }
        let holder = "t.external_key = $1 and t.deleted_at is null";
        if let Some(id) = read::lock(template, holder, pg_sys::TEXTOID, datum::text(key)) {
            return run().or(Some(id));
        }
        read::id_by_key(template, key)?;
    }
    gave_up().raise()
}

fn update_once(template: &Template, key: &str, assignments: &Assignments) -> Option<Uuid> {
    as_owner(|| {
        let sql = || statement::update_by_key(template, assignments);
        let plan = template.plan_of(&assignments.name(Verb::UpdateByKey), sql, || {
            let mut types = vec![pg_sys::TEXTOID];
            types.extend(assignments.parameter_types());
            types
        });
        let mut arguments = vec![datum::text(key)];
        arguments.extend_from_slice(&assignments.arguments);
        connected(|spi| {
            let rows = spi.run(&plan, Access::Latest, &arguments);
            (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()
        })
    })
}

fn gave_up() -> Error {
    Error::new(Code::SerializationFailure, "concurrent writes to this key kept getting in the way")
        .hint("run the transaction again")
}
