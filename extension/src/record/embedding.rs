//! The vector of one record, set by a caller.

use super::version::Preconditions;
use super::write_error::require_in_scope;
use super::{precondition, read};
use crate::access::visibility::WriteScope;
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::parameter::IntoParameter;
use crate::template::Template;
use crate::value::vector::Embedding;
use crate::vectors::write::apply;
use uuid::Uuid;

/// Sets or removes the vector of a live record, for a caller that may update it. Removing a missing vector succeeds.
pub fn set(
    caller: &Caller,
    id: Uuid,
    embedding: &Embedding,
    preconditions: &Preconditions,
) -> Result<(), Error> {
    let template = read::template_of(caller, id, Action::Update)?;
    require_writable(caller, &template, id)?;
    precondition::require_of_locked(caller, &template, id, preconditions)?;
    apply(&template, id, embedding)
}

/// Locks a live record before its vector is written. Rejects a record that is not visible to the caller, or that the
/// caller may not update.
pub fn require_writable(caller: &Caller, template: &Template, id: Uuid) -> Result<(), Error> {
    let write_scope = WriteScope::of(caller, Action::Update, template);
    let live = "t.id = $1 and t.deleted_at is null";
    let found = read::lock(template, live, &write_scope, id.into_parameter());
    require_in_scope(caller, Action::Update, template, found).map(|_| ())
}
