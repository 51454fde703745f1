//! Creates a record, or updates the one with the key: usually one statement, and always certain which of the two it
//! was.

use super::mode::Mode;
use super::read::{self, FoundRecord};
use super::statement::{self, Assignments, Verb};
use super::version::Preconditions;
use super::write::{key_and_values, key_taken};
use super::{changes, comparison, precondition, reference};
use crate::access::visibility::{UpsertScopes, condition_column};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::metric;
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard::as_owner;
use crate::postgres::random;
use crate::postgres::spi::{Plan, connected};
use crate::quota::reserve;
use crate::template::Template;
use crate::value::change::Changes;
use crate::value::record_id;
use pgrx::pg_sys;
use std::rc::Rc;
use uuid::Uuid;

/// How often a writer that keeps losing to others tries before it gives up.
pub(super) const MOST_TRIES: usize = 10;

/// Writes to the live record of the template that holds `key`, creating it when there is none. The key is
/// normalised. Returns the record's id and whether it was created.
pub fn upsert(
    caller: &Caller,
    template: &Template,
    mode: Mode,
    key: &str,
    mut changes: Changes,
    preconditions: &Preconditions,
) -> Result<(Uuid, bool), Error> {
    mode.require_rights(caller, template)?;
    reference::resolve(caller, template, &mut changes)?;
    metric::stamp(&mut changes);
    let updates_first = match mode {
        Mode::Update => {
            reserve::for_change(template);
            false
        }
        Mode::Create | Mode::Upsert => {
            reserve::for_upsert(template, || as_owner(|| read::id_by_key(template, key)).is_some())
        }
    };
    let upsert = Upsert {
        caller,
        template,
        key,
        changes: &changes,
        write_scopes: mode.write_scopes(caller, template),
    };
    let complete = changes::is_complete(template, &changes);
    let (id, created) = as_owner(|| match mode {
        _ if !preconditions.are_none() => upsert.write_if(mode, preconditions),
        Mode::Upsert if updates_first => match upsert.update()? {
            Some(id) => Ok((id, false)),
            None => {
                reserve::for_creation(template);
                upsert.write(complete)
            }
        },
        Mode::Create => {
            changes::check_complete(template, &changes)?;
            Ok((upsert.insert()?.ok_or_else(|| key_taken(caller, template, key))?, true))
        }
        Mode::Update => Ok((upsert.update()?.ok_or_else(Error::not_found)?, false)),
        Mode::Upsert => upsert.write_known(complete),
    })?;
    metric::append(template, id, &changes);
    Ok((id, created))
}

/// A write to the record that holds a key.
struct Upsert<'a> {
    caller: &'a Caller,
    template: &'a Template,
    key: &'a str,
    changes: &'a Changes<'a>,
    write_scopes: UpsertScopes,
}

impl Upsert<'_> {
    /// By the branch that the conditions leave.
    fn write_if(&self, mode: Mode, preconditions: &Preconditions) -> Result<(Uuid, bool), Error> {
        let Upsert { caller, template, key, .. } = *self;
        for _ in 0..MOST_TRIES {
            if precondition::narrow(caller, template, mode, key, preconditions)? == Mode::Update {
                // The record is locked, so only the caller can have made it another.
                return Ok((self.update()?.ok_or_else(Error::not_found)?, false));
            }
            changes::check_complete(template, self.changes)?;
            reserve::for_creation(template);
            if let Some(id) = self.insert()? {
                return Ok((id, true));
            }
            if mode == Mode::Create {
                return Err(key_taken(caller, template, key));
            }
        }
        Err(gave_up())
    }

    /// An upsert that first checks whether the record exists. If so, it updates it or finds the values unchanged:
    /// both cost less than a failing insert.
    fn write_known(&self, complete: bool) -> Result<(Uuid, bool), Error> {
        if !metric::has_points(self.changes) {
            let assignments = Assignments::new(self.template, self.changes);
            let write_scope = &self.write_scopes.update;
            match comparison::holder(self.template, self.key, &assignments, write_scope) {
                Some(holder) if holder.has_values => return Ok((holder.id, false)),
                Some(_) => {
                    if let Some(id) = self.update_once(&assignments)? {
                        return Ok((id, false));
                    }
                }
                None => {}
            }
        }
        self.write(complete)
    }

    /// By the way that suits what is written; `complete` says whether it would do for a new record.
    fn write(&self, complete: bool) -> Result<(Uuid, bool), Error> {
        match complete {
            true if metric::has_points(self.changes) => self.lock_then_write(),
            true => self.insert_or_update(),
            false => self.update_or_insert(),
        }
    }

    /// The usual statement. Its row shows the branch: a new id means created, another one updated. No row means that
    /// the values are unchanged, or that the caller may not write the record.
    fn insert_or_update(&self) -> Result<(Uuid, bool), Error> {
        let (template, write_scopes) = (self.template, &self.write_scopes);
        let assignments = Assignments::new(template, self.changes);
        let sql = || statement::upsert(template, &assignments, write_scopes);
        let plan = self.plan(Verb::Upsert, &assignments, write_scopes.are_open(), sql, key_and_values);
        for _ in 0..MOST_TRIES {
            let id = record_id::generate(template.id, random::next_u64());
            let written = connected(|spi| {
                let rows = template.write(spi, &plan, &self.arguments(Some(id), &assignments));
                if rows.is_empty() {
                    return None;
                }
                let written = rows.get(0, 0).map(datum::read_uuid)?;
                let column = if written == id { 1 } else { 2 };
                let is_writable =
                    write_scopes.are_open() || rows.get(0, column).is_some_and(datum::read_bool);
                Some((written, is_writable))
            });
            match written {
                Some((written, true)) => return Ok((written, written == id)),
                Some((written, false)) => {
                    let action = if written == id { Action::Create } else { Action::Update };
                    return Err(self.caller.outside(action, template));
                }
                None => {}
            }
            if let Some(found) = read::holder(template, self.key, &write_scopes.update) {
                return self.unchanged(found).map(|id| (id, false));
            }
        }
        Err(gave_up())
    }

    /// The record that a statement left alone: it is as it should be, or not this caller's.
    fn unchanged(&self, found: FoundRecord) -> Result<Uuid, Error> {
        match found {
            FoundRecord { is_visible: true, is_writable: true, id } => Ok(id),
            FoundRecord { is_visible: true, .. } => Err(self.caller.outside(Action::Update, self.template)),
            // The error says that the key is taken, not by which record.
            _ => Err(key_taken(self.caller, self.template, self.key)),
        }
    }

    /// The way of an upsert that appends to a series. Which point is the latest is read from the series, and a
    /// statement that has to wait for another writer would read it as it was before: so the row is locked by a
    /// statement of its own.
    fn lock_then_write(&self) -> Result<(Uuid, bool), Error> {
        for _ in 0..MOST_TRIES {
            if let Some(id) = self.update()? {
                return Ok((id, false));
            }
            if let Some(id) = self.insert()? {
                return Ok((id, true));
            }
            self.require_unseen_holder_is_told()?;
        }
        Err(gave_up())
    }

    /// Refuses a key that is held by a record out of the caller's sight, which no further try would change.
    fn require_unseen_holder_is_told(&self) -> Result<(), Error> {
        match read::holder(self.template, self.key, &self.write_scopes.update) {
            Some(found) if !found.is_visible => self.unchanged(found).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The way of an upsert that does not list every required attribute. PostgreSQL checks NOT NULL before it looks
    /// for a conflict, so the record must be found first; only when there is none does the lack matter.
    fn update_or_insert(&self) -> Result<(Uuid, bool), Error> {
        if let Some(id) = self.update()? {
            return Ok((id, false));
        }
        self.require_unseen_holder_is_told()?;
        Err(changes::check_complete(self.template, self.changes).err().unwrap_or_else(gave_up))
    }

    fn insert(&self) -> Result<Option<Uuid>, Error> {
        let (template, write_scope) = (self.template, &self.write_scopes.create);
        let assignments = Assignments::new(template, self.changes);
        let sql = || {
            statement::insert(
                template,
                &assignments,
                &format!("t.id{}", condition_column(write_scope.writable.as_deref())),
            )
        };
        let plan = self.plan(Verb::Insert, &assignments, write_scope.is_open(), sql, key_and_values);
        let id = record_id::generate(template.id, random::next_u64());
        let is_writable = connected(|spi| {
            let rows = template.write(spi, &plan, &self.arguments(Some(id), &assignments));
            (!rows.is_empty()).then(|| rows.get(0, 1).is_some_and(datum::read_bool))
        });
        match is_writable {
            None => Ok(None),
            Some(true) => Ok(Some(id)),
            Some(false) => Err(self.caller.outside(Action::Create, template)),
        }
    }

    /// Updates the live record with this key, if the caller sees it. If no row is written, either the values are
    /// unchanged, or no record has the key, or a concurrent writer gave the key to a record that the statement's
    /// snapshot does not include. A lock tells these apart: once it is held, the repeated statement writes nothing
    /// only if the values are unchanged.
    fn update(&self) -> Result<Option<Uuid>, Error> {
        let (template, key, write_scope) = (self.template, self.key, &self.write_scopes.update);
        let assignments = Assignments::new(template, self.changes);
        let seen = |found: Option<FoundRecord>| found.filter(|found| found.is_visible);
        if assignments.is_empty() {
            return seen(read::holder(template, key, write_scope)).map(|it| self.unchanged(it)).transpose();
        }
        for _ in 0..MOST_TRIES {
            // Which point of a series is the latest would be read too early by a statement that has to wait.
            if !metric::has_points(self.changes)
                && let Some(id) = self.update_once(&assignments)?
            {
                return Ok(Some(id));
            }
            let holder = "t.external_key = $1 and t.deleted_at is null";
            let locked = read::lock(template, holder, write_scope, pg_sys::TEXTOID, datum::text(key));
            if locked.is_some() {
                let Some(found) = seen(locked) else { return Ok(None) };
                let id = self.unchanged(found)?;
                return Ok(self.update_once(&assignments)?.or(Some(id)));
            }
            if read::id_by_key(template, key).is_none() {
                return Ok(None);
            }
        }
        Err(gave_up())
    }

    fn update_once(&self, assignments: &Assignments) -> Result<Option<Uuid>, Error> {
        let (template, write_scope) = (self.template, &self.write_scopes.update);
        let sql = || statement::update_by_key(template, assignments, write_scope);
        let plan = self.plan(Verb::UpdateByKey, assignments, write_scope.is_open(), sql, |assignments| {
            let mut types = vec![pg_sys::TEXTOID];
            types.extend(assignments.parameter_types());
            types
        });
        let written = connected(|spi| {
            let rows = template.write(spi, &plan, &self.arguments(None, assignments));
            let id = (!rows.is_empty()).then(|| rows.get(0, 0).map(datum::read_uuid)).flatten()?;
            Some((id, rows.get(0, 1).is_some_and(datum::read_bool)))
        });
        match written {
            Some((_, false)) => Err(self.caller.outside(Action::Update, template)),
            written => Ok(written.map(|(id, _)| id)),
        }
    }

    /// The kept statement: without write scopes it is known by less than its text.
    fn plan(
        &self,
        verb: Verb,
        assignments: &Assignments,
        is_open: bool,
        sql: impl FnOnce() -> String,
        parameters: impl FnOnce(&Assignments) -> Vec<pg_sys::Oid>,
    ) -> Rc<Plan> {
        if is_open {
            return self.template.plan_of(&assignments.name(verb), sql, || parameters(assignments));
        }
        self.template.plan(&sql(), || parameters(assignments))
    }

    fn arguments(&self, id: Option<Uuid>, assignments: &Assignments) -> Vec<Argument> {
        let mut arguments = Vec::with_capacity(2 + assignments.arguments.len());
        arguments.extend(id.map(datum::uuid));
        arguments.push(datum::text(self.key));
        arguments.extend_from_slice(&assignments.arguments);
        arguments
    }
}

/// The refusal of a write that others kept getting in the way of.
pub(super) fn gave_up() -> Error {
    Error::new(Code::SerializationFailure, "concurrent writes to this key kept conflicting")
        .hint("run the transaction again")
}
