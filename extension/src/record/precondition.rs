//! Preconditions of a write (If-Match, If-None-Match), checked with the record locked.

use super::mode::Mode;
use super::read::{self, FoundRecord, Lifetime};
use super::shape::Projection;
use super::version::Preconditions;
use super::write_error::{MAX_TRIES, key_taken, require_in_scope, write_conflict};
use crate::access::visibility::WriteScope;
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::function::Call;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::IntoParameter;
use crate::postgres::spi::Snapshot;
use crate::template::Template;
use uuid::Uuid;

/// The preconditions in two arguments of a function. The second argument may be undeclared.
pub fn preconditions(call: &Call, position: usize) -> Result<Preconditions, Error> {
    let (if_match, if_none_match) = (call.text(position), call.text(position + 1));
    Preconditions::parse(if_match.as_deref(), if_none_match.as_deref())
}

/// Locks the live record with this id and rejects the write if the preconditions do not hold. An invisible record is
/// reported as not found, and a write without the privilege is denied. Without preconditions it does nothing.
pub fn require(
    caller: &Caller,
    action: Action,
    template: &Template,
    id: Uuid,
    preconditions: &Preconditions,
) -> Result<(), Error> {
    if preconditions.is_empty() {
        return Ok(());
    }
    let write_scope = WriteScope::of(caller, action, template);
    let live = "t.id = $1 and t.deleted_at is null";
    let found = read::lock(template, live, &write_scope, id.into_parameter());
    require_in_scope(caller, action, template, found)?;
    require_of_locked(caller, template, id, preconditions)
}

/// The same for a locked record, live or deleted, that the caller may write.
pub fn require_of_locked(
    caller: &Caller,
    template: &Template,
    id: Uuid,
    preconditions: &Preconditions,
) -> Result<(), Error> {
    if preconditions.is_empty() {
        return Ok(());
    }
    let version = match preconditions.need_version() {
        false => String::new(),
        true => {
            // A matching version would confirm the caller's assumption about the content of the
            // record.
            caller.require(Action::Read, template)?;
            let shown =
                read::by_id(template, id, None, Lifetime::Any, &Projection::default(), Snapshot::Latest)?;
            shown.tag().unwrap_or_default()
        }
    };
    if preconditions.hold_for(&version) { Ok(()) } else { Err(preconditions.failure_for(&version)) }
}

/// Checks the preconditions of an upsert. Returns the mode that they allow: create, or update, with the record locked.
/// The INSERT decides whether a record can be created.
pub fn narrow(
    caller: &Caller,
    template: &Template,
    mode: Mode,
    key: &str,
    preconditions: &Preconditions,
) -> Result<Mode, Error> {
    let found = match mode {
        Mode::Create => read::holder(template, key, &WriteScope::of(caller, Action::Read, template))
            .filter(|_| caller.require(Action::Read, template).is_ok()),
        Mode::Update | Mode::Upsert => lock_holder(caller, template, key)?,
    };
    match (found, mode) {
        (None, Mode::Update) => Err(Error::not_found()),
        (None, Mode::Create | Mode::Upsert) if !preconditions.hold_if_absent() => {
            Err(preconditions.failure_if_absent())
        }
        (None, Mode::Create | Mode::Upsert) => Ok(Mode::Create),
        (Some(FoundRecord { is_visible: false, .. }), Mode::Update) => Err(Error::not_found()),
        (Some(FoundRecord { is_visible: false, .. }), _) => Err(key_taken(caller, template, key)),
        (Some(found), Mode::Create) => {
            require_of_locked(caller, template, found.id, preconditions).map(|()| Mode::Create)
        }
        (found @ Some(FoundRecord { id, .. }), Mode::Update | Mode::Upsert) => {
            require_in_scope(caller, Action::Update, template, found)?;
            require_of_locked(caller, template, id, preconditions).map(|()| Mode::Update)
        }
    }
}

/// Locks the live record with the key.
fn lock_holder(caller: &Caller, template: &Template, key: &str) -> Result<Option<FoundRecord>, Error> {
    let write_scope = WriteScope::of(caller, Action::Update, template);
    let holder = "t.external_key = $1 and t.deleted_at is null";
    for _ in 0..MAX_TRIES {
        let locked = read::lock(template, holder, &write_scope, key.into_parameter());
        // While this waited for the lock, the key may have moved to a record that the snapshot does not include.
        if locked.is_some() || as_owner(|| read::id_by_key(template, key)).is_none() {
            return Ok(locked);
        }
    }
    Err(write_conflict())
}
