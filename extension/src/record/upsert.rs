//! Creates a record, or updates the one with the key, usually by one statement.
//!
//! Only the unique index enforces uniqueness, not a lookup before the write or serializable snapshots. The result
//! shows reliably whether the record was created: the statement inserts a new id, and the returned row has that id only
//! if it was inserted.

use super::argument::BoundAssignments;
use super::kept::RecordIdentity;
use super::mode::Mode;
use super::read;
use super::version::Preconditions;
use super::write_by_key::WriteByKey;
use super::write_error::{MAX_TRIES, write_conflict};
use super::{changes, comparison, dropped, precondition, reference};
use crate::access::Caller;
use crate::error::Error;
use crate::metric;
use crate::postgres::guard::as_owner;
use crate::quota::reserve;
use crate::template::Template;
use crate::value::change::Changes;
use uuid::Uuid;

/// Creates or updates the live record with `key`, which must be normalized. Returns the record's id and whether it was
/// created.
pub fn upsert(
    caller: &Caller,
    template: &Template,
    mode: Mode,
    key: &str,
    mut changes: Changes,
    preconditions: &Preconditions,
) -> Result<(Uuid, bool), Error> {
    mode.require_privileges(caller, template)?;
    let identity = if mode == Mode::Create { RecordIdentity::None } else { RecordIdentity::Key(key) };
    let keeps = reference::resolve(caller, template, &mut changes, identity)?;
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
        _ if !preconditions.is_empty() => upsert.write_if(mode, preconditions),
        // An INSERT would reject kept values before it detects the conflict.
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
        Mode::Upsert => upsert.write_existing_first(complete),
    })?;
    metric::append(template, id, &changes);
    Ok((id, created))
}

impl WriteByKey<'_> {
    /// Writes in the mode that the preconditions allow.
    fn write_if(&self, mode: Mode, preconditions: &Preconditions) -> Result<(Uuid, bool), Error> {
        let WriteByKey { caller, template, key, .. } = *self;
        for _ in 0..MAX_TRIES {
            if precondition::narrow(caller, template, mode, key, preconditions)? == Mode::Update {
                // The record is locked, so it still exists.
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
        Err(write_conflict())
    }

    /// An upsert that first looks up the record. If the record exists, it is updated or unchanged; both cost less than a
    /// failing insert.
    fn write_existing_first(&self, complete: bool) -> Result<(Uuid, bool), Error> {
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

    /// An upsert without a lookup. `complete` is whether the changes have all required attributes of a new record.
    fn write(&self, complete: bool) -> Result<(Uuid, bool), Error> {
        match complete {
            true if metric::has_points(self.changes) => self.lock_then_write(),
            true => self.insert_or_update(),
            false => self.update_or_insert(),
        }
    }

    /// An upsert that appends to a series. The latest point is read from the series, and a statement that waits for
    /// another writer would read an older snapshot of it. So a separate statement locks the row first.
    fn lock_then_write(&self) -> Result<(Uuid, bool), Error> {
        for attempt in 1..=MAX_TRIES {
            if let Some(id) = self.update()? {
                return Ok((id, false));
            }
            if let Some(id) = self.insert()? {
                return Ok((id, true));
            }
            self.reject_invisible_holder()?;
            if attempt >= dropped::ATTEMPTS_UNTIL_DROPPED {
                self.reject_dropped_insert()?;
            }
        }
        Err(write_conflict())
    }

    /// An upsert without all required attributes. PostgreSQL checks NOT NULL before it detects a conflict, so the record
    /// is updated first. Missing attributes are an error only if there is no record.
    fn update_or_insert(&self) -> Result<(Uuid, bool), Error> {
        if let Some(id) = self.update()? {
            return Ok((id, false));
        }
        self.reject_invisible_holder()?;
        Err(changes::check_complete(self.template, self.changes).err().unwrap_or_else(write_conflict))
    }
}
