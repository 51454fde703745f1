//! Writes that a trigger of the table's administrator drops: it runs before the row and returns NULL. PostgreSQL then
//! reports neither a row nor an error, as for a record that has the values already.

use super::statement::{Assignments, KeyAssignment};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::postgres::trigger::has_before_row_trigger;
use crate::template::Template;

/// After how many tries a write that never writes a row counts as dropped, where other writers might be the reason.
pub const CERTAIN_TRIES: usize = 3;

/// Whether the table has a trigger that could drop one of these writes. A statement has locked the table.
pub fn is_possible(template: &Template, events: &[Event]) -> bool {
    events.iter().any(|event| has_before_row_trigger(template.table, *event, c"keyed_guard"))
}

/// The error of a write that was dropped.
pub fn error(template: &Template) -> Error {
    Error::new(Code::InvalidValue, format!("a trigger of {} dropped the write", template.full_name()))
        .hint(
            "A trigger before the row returned NULL. Have it return the row, or raise an exception that says why. If it \
            changes keys, another record may have the new one.",
        )
}

/// Rejects a write that should have changed a row and did not: `sql` finds a row that it would still change.
pub fn reject(
    template: &Template,
    events: &[Event],
    sql: impl FnOnce() -> String,
    arguments: &[Parameter],
) -> Result<(), Error> {
    if !is_possible(template, events) {
        return Ok(());
    }
    let is_left =
        as_owner(|| connected(|spi| !template.run(spi, &sql(), Snapshot::Latest, arguments).is_empty()));
    if is_left { Err(error(template)) } else { Ok(()) }
}

/// Finds the record that [`super::statement::update_by_id`] would give other values, with the same parameters.
pub fn to_update_by_id(template: &Template, key: KeyAssignment, assignments: &Assignments) -> String {
    let left = match key {
        KeyAssignment::Keep => assignments.left(template, 2),
        KeyAssignment::Set if assignments.is_empty() => "t.external_key is distinct from $2".to_owned(),
        KeyAssignment::Set => {
            format!("t.external_key is distinct from $2 or {}", assignments.left(template, 3))
        }
    };
    format!(
        "select t.id from {} t where t.id = $1 and t.deleted_at is null and ({left})",
        template.table_sql()
    )
}

/// Finds the record that [`super::statement::update_by_key`] would give other values, with the same parameters.
pub fn to_update_by_key(template: &Template, assignments: &Assignments) -> String {
    format!(
        "select t.id from {} t where t.external_key = $1 and t.deleted_at is null and ({})",
        template.table_sql(),
        assignments.left(template, 2)
    )
}
