//! Creates a record, or updates the one with the key: usually one statement, and always certain which of the two it
//! was.
//!
//! Uniqueness rests on the unique index alone: never on a lookup before the write, never on serializable snapshots.
//! Created or updated is never guessed: the statement offers a new id, and the record was created if the returned row
//! has that id.

use super::argument::BoundAssignments;
use super::kept::Keeper;
use super::mode::Mode;
use super::read;
use super::refusal::{MAX_TRIES, gave_up};
use super::version::Preconditions;
use super::write_by_key::WriteByKey;
use super::{changes, comparison, dropped, precondition, reference};
use crate::access::Caller;
use crate::error::Error;
use crate::metric;
use crate::postgres::guard::as_owner;
use crate::quota::reserve;
use crate::template::Template;
use crate::value::change::Changes;
use uuid::Uuid;

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
    let keeper = if mode == Mode::Create { Keeper::None } else { Keeper::Key(key) };
    let keeps = reference::resolve(caller, template, &mut changes, keeper)?;
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
    let upsert = WriteByKey {
        caller,
        template,
        key,
        changes: &changes,
        write_scopes: mode.write_scopes(caller, template),
    };
    let complete = changes::is_complete(template, &changes);
    let (id, created) = as_owner(|| match mode {
        _ if !preconditions.are_none() => upsert.write_if(mode, preconditions),
        // An INSERT rejects what is kept, before it finds the record.
        Mode::Upsert if updates_first || keeps => match upsert.update()? {
            Some(id) => Ok((id, false)),
            None => {
                reserve::for_creation(template);
                upsert.write(complete)
            }
        },
        Mode::Create => {
            changes::check_complete(template, &changes)?;
            Ok((upsert.create()?, true))
        }
        Mode::Update => Ok((upsert.update()?.ok_or_else(Error::not_found)?, false)),
        Mode::Upsert => upsert.write_known(complete),
    })?;
    metric::append(template, id, &changes);
    Ok((id, created))
}

impl WriteByKey<'_> {
    /// By the branch that the conditions leave.
    fn write_if(&self, mode: Mode, preconditions: &Preconditions) -> Result<(Uuid, bool), Error> {
        let WriteByKey { caller, template, key, .. } = *self;
        for _ in 0..MAX_TRIES {
            if precondition::narrow(caller, template, mode, key, preconditions)? == Mode::Update {
                // The record is locked, so only the caller can have made it another.
                return Ok((self.update()?.ok_or_else(Error::not_found)?, false));
            }
            changes::check_complete(template, self.changes)?;
            reserve::for_creation(template);
            if mode == Mode::Create {
                return Ok((self.create()?, true));
            }
            if let Some(id) = self.insert()? {
                return Ok((id, true));
            }
        }
        self.reject_dropped_insert()?;
        Err(gave_up())
    }

    /// An upsert that first checks whether the record exists. If so, it updates it or finds the values unchanged:
    /// both cost less than a failing insert.
    fn write_known(&self, complete: bool) -> Result<(Uuid, bool), Error> {
        if !metric::has_points(self.changes) {
            let assignments = BoundAssignments::new(self.template, self.changes);
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

    /// The way of an upsert that appends to a series. Which point is the latest is read from the series, and a
    /// statement that has to wait for another writer would read it as it was before: so the row is locked by a
    /// statement of its own.
    fn lock_then_write(&self) -> Result<(Uuid, bool), Error> {
        for tries in 1..=MAX_TRIES {
            if let Some(id) = self.update()? {
                return Ok((id, false));
            }
            if let Some(id) = self.insert()? {
                return Ok((id, true));
            }
            self.require_unseen_holder_is_told()?;
            if tries >= dropped::CERTAIN_TRIES {
                self.reject_dropped_insert()?;
            }
        }
        Err(gave_up())
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
}
