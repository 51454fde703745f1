//! Writes the record with a key.

use super::argument::BoundAssignments;
use super::dropped;
use super::new_id::new_id;
use super::read::{self, FoundRecord};
use super::statement::{self, Verb};
use super::write_error::{self, MAX_TRIES, key_taken, not_inserted, write_conflict};
use crate::access::visibility::{UpsertScopes, condition_column};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::metric;
use crate::postgres::parameter::{IntoParameter, Parameter};
use crate::postgres::spi::{Plan, connected};
use crate::postgres::trigger::Event;
use crate::template::Template;
use crate::value::change::Changes;
use std::rc::Rc;
use uuid::Uuid;

/// A write to the record with a key.
pub(super) struct WriteByKey<'a> {
    pub(super) caller: &'a Caller,
    pub(super) template: &'a Template,
    pub(super) key: &'a str,
    pub(super) changes: &'a Changes<'a>,
    pub(super) write_scopes: UpsertScopes,
}

impl WriteByKey<'_> {
    /// Runs INSERT … ON CONFLICT. A returned row with the new id was created, another one updated. No row means that the
    /// values are unchanged, or that the caller may not write the record.
    pub(super) fn insert_or_update(&self) -> Result<(Uuid, bool), Error> {
        let (template, write_scopes) = (self.template, &self.write_scopes);
        let assignments = BoundAssignments::new(template, self.changes);
        let sql = || statement::upsert(template, &assignments, write_scopes);
        for attempt in 1..=MAX_TRIES {
            let id = new_id(template.id);
            let arguments = self.arguments(Some(id), &assignments);
            let plan = self.plan(Verb::Upsert, &assignments, write_scopes.are_open(), sql, &arguments);
            let written = connected(|spi| {
                let rows = template.write(spi, &plan, &arguments);
                let written = rows.value::<Uuid>()?;
                let column = if written == id { 1 } else { 2 };
                let is_writable =
                    write_scopes.are_open() || rows.get::<Option<bool>>(0, column).unwrap_or_default();
                Some((written, is_writable))
            });
            match written {
                Some((written, true)) => return Ok((written, written == id)),
                Some((written, false)) => {
                    let action = if written == id { Action::Create } else { Action::Update };
                    return Err(self.caller.out_of_scope(action, template));
                }
                None => {}
            }
            let is_certain = attempt >= dropped::ATTEMPTS_UNTIL_DROPPED;
            if let Some(found) = read::holder(template, self.key, &write_scopes.update) {
                let id = self.unchanged(found)?;
                match self.reject_dropped(&[Event::Insert, Event::Update], &assignments) {
                    Ok(()) => return Ok((id, false)),
                    Err(error) if is_certain => return Err(error),
                    Err(_) => {}
                }
            } else if is_certain {
                self.reject_dropped_insert()?;
            }
        }
        Err(write_conflict())
    }

    /// Rejects a write that returned no row, if the live record with the key does not have the values.
    fn reject_dropped(&self, events: &[Event], assignments: &BoundAssignments) -> Result<(), Error> {
        if assignments.is_empty() {
            return Ok(());
        }
        let sql = || dropped::to_update_by_key(self.template, assignments);
        let arguments = self.arguments(None, assignments);
        dropped::reject(self.template, events, sql, &arguments)
    }

    /// Rejects an INSERT that returned no row, if no record has its key.
    pub(super) fn reject_dropped_insert(&self) -> Result<(), Error> {
        let is_dropped = write_error::is_insert_dropped(self.template, Some(self.key));
        if is_dropped { Err(dropped::error(self.template)) } else { Ok(()) }
    }

    /// The record that a statement did not change: its values are unchanged, or the caller may not write it.
    fn unchanged(&self, found: FoundRecord) -> Result<Uuid, Error> {
        match found {
            FoundRecord { is_visible: true, is_writable: true, id } => Ok(id),
            FoundRecord { is_visible: true, .. } => {
                Err(self.caller.out_of_scope(Action::Update, self.template))
            }
            // The error does not disclose the record.
            _ => Err(key_taken(self.caller, self.template, self.key)),
        }
    }

    /// Rejects a key whose record is not visible to the caller. Further attempts would fail too.
    pub(super) fn reject_invisible_holder(&self) -> Result<(), Error> {
        match read::holder(self.template, self.key, &self.write_scopes.update) {
            Some(found) if !found.is_visible => self.unchanged(found).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Inserts a record that must be new.
    pub(super) fn create(&self) -> Result<Uuid, Error> {
        for _ in 1..dropped::ATTEMPTS_UNTIL_DROPPED {
            match self.insert()? {
                Some(id) => return Ok(id),
                None if write_error::is_insert_dropped(self.template, Some(self.key)) => {}
                None => break,
            }
        }
        self.insert()?.ok_or_else(|| not_inserted(self.caller, self.template, Some(self.key)))
    }

    pub(super) fn insert(&self) -> Result<Option<Uuid>, Error> {
        let (template, write_scope) = (self.template, &self.write_scopes.create);
        let assignments = BoundAssignments::new(template, self.changes);
        let sql = || {
            statement::insert(
                template,
                &assignments,
                &format!("t.id{}", condition_column(write_scope.writable.as_deref())),
            )
        };
        let id = new_id(template.id);
        let arguments = self.arguments(Some(id), &assignments);
        let plan = self.plan(Verb::Insert, &assignments, write_scope.is_open(), sql, &arguments);
        let is_writable = connected(|spi| {
            let inserted = template.write(spi, &plan, &arguments).first::<(Uuid, bool)>();
            inserted.map(|(_, is_writable)| is_writable)
        });
        match is_writable {
            None => Ok(None),
            Some(true) => Ok(Some(id)),
            Some(false) => Err(self.caller.out_of_scope(Action::Create, template)),
        }
    }

    /// Updates the live record with this key, if it is visible to the caller. If no row is written, the values are
    /// unchanged, no record has the key, or a concurrent writer moved the key to a record that the statement's snapshot
    /// does not include. A lock distinguishes these cases: with the lock held, the repeated statement writes nothing only
    /// if the values are unchanged.
    pub(super) fn update(&self) -> Result<Option<Uuid>, Error> {
        let (template, key, write_scope) = (self.template, self.key, &self.write_scopes.update);
        let assignments = BoundAssignments::new(template, self.changes);
        let visible = |found: Option<FoundRecord>| found.filter(|found| found.is_visible);
        if assignments.is_empty() {
            return visible(read::holder(template, key, write_scope))
                .map(|it| self.unchanged(it))
                .transpose();
        }
        for _ in 0..MAX_TRIES {
            // A statement that waits for the row would read the latest point from an older snapshot.
            if !metric::has_points(self.changes)
                && let Some(id) = self.update_once(&assignments)?
            {
                return Ok(Some(id));
            }
            let holder = "t.external_key = $1 and t.deleted_at is null";
            let locked = read::lock(template, holder, write_scope, key.into_parameter());
            if locked.is_some() {
                let Some(found) = visible(locked) else { return Ok(None) };
                let id = self.unchanged(found)?;
                if self.update_once(&assignments)?.is_none() {
                    self.reject_dropped(&[Event::Update], &assignments)?;
                }
                return Ok(Some(id));
            }
            if read::id_by_key(template, key).is_none() {
                return Ok(None);
            }
        }
        Err(write_conflict())
    }

    pub(super) fn update_once(&self, assignments: &BoundAssignments) -> Result<Option<Uuid>, Error> {
        let (template, write_scope) = (self.template, &self.write_scopes.update);
        let sql = || statement::update_by_key(template, assignments, write_scope);
        let arguments = self.arguments(None, assignments);
        let plan = self.plan(Verb::UpdateByKey, assignments, write_scope.is_open(), sql, &arguments);
        let written = connected(|spi| template.write(spi, &plan, &arguments).first::<(Uuid, bool)>());
        match written {
            Some((_, false)) => Err(self.caller.out_of_scope(Action::Update, template)),
            written => Ok(written.map(|(id, _)| id)),
        }
    }

    /// The cached statement, with a short cache key if there are no write scopes.
    fn plan(
        &self,
        verb: Verb,
        assignments: &BoundAssignments,
        is_open: bool,
        sql: impl FnOnce() -> String,
        arguments: &[Parameter],
    ) -> Rc<Plan> {
        if is_open {
            return self.template.plan_of(&assignments.cache_key(verb), sql, arguments);
        }
        self.template.plan(&sql(), arguments)
    }

    fn arguments(&self, id: Option<Uuid>, assignments: &BoundAssignments) -> Vec<Parameter> {
        let mut arguments = Vec::with_capacity(2 + assignments.arguments.len());
        arguments.extend(id.map(Uuid::into_parameter));
        arguments.push(self.key.into_parameter());
        arguments.extend_from_slice(&assignments.arguments);
        arguments
    }
}
