//! Writes that a BEFORE ROW trigger of a database administrator drops by returning NULL. PostgreSQL then reports neither a
//! row nor an error, as for a record that has the values already.

use super::statement::{Assignments, KeyAssignment};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::postgres::trigger::has_before_row_trigger;
use crate::template::Template;

/// The number of attempts after which a write without a result counts as dropped. Before that, concurrent writers may be
/// the reason.
pub const ATTEMPTS_UNTIL_DROPPED: usize = 3;

/// Whether the table has a trigger that could drop one of these writes. The table must be locked.
pub fn is_possible(template: &Template, events: &[Event]) -> bool {
    events.iter().any(|event| has_before_row_trigger(template.table, *event, c"keyed_guard"))
}

/// The error for a dropped write.
pub fn error(template: &Template) -> Error {
    Error::new(Code::InvalidValue, format!("a trigger of {} dropped the write", template.full_name()))
        .hint(
            "A BEFORE ROW trigger returned NULL. Change it to return the row, or to raise an exception with the reason. \
             If it changes keys, another record may already have the new key.",
        )
}

/// Rejects a write that changed no row although `sql` finds a row to change.
pub fn reject(
    template: &Template,
    events: &[Event],
    sql: impl FnOnce() -> String,
    arguments: &[Parameter],
) -> Result<(), Error> {
    if !is_possible(template, events) {
        return Ok(());
    }
    let is_outdated =
        as_owner(|| connected(|spi| !template.run(spi, &sql(), Snapshot::Latest, arguments).is_empty()));
    if is_outdated { Err(error(template)) } else { Ok(()) }
}

/// The query for the record that [`super::statement::update_by_id`] would change, with the same parameters.
pub fn to_update_by_id(template: &Template, key: KeyAssignment, assignments: &Assignments) -> String {
    let differs = match key {
        KeyAssignment::Keep => assignments.differ(template, 2),
        KeyAssignment::Set if assignments.is_empty() => "t.external_key is distinct from $2".to_owned(),
        KeyAssignment::Set => {
            format!("t.external_key is distinct from $2 or {}", assignments.differ(template, 3))
        }
    };
    format!(
        "select t.id from {} t where t.id = $1 and t.deleted_at is null and ({differs})",
        template.table_sql()
    )
}

/// The query for the record that [`super::statement::update_by_key`] would change, with the same parameters.
pub fn to_update_by_key(template: &Template, assignments: &Assignments) -> String {
    format!(
        "select t.id from {} t where t.external_key = $1 and t.deleted_at is null and ({})",
        template.table_sql(),
        assignments.differ(template, 2)
    )
}
