//! Writes that a trigger of the table's administrator drops: it runs before the row and returns NULL. PostgreSQL then
//! reports neither a row nor an error, as for a record that has the values already.

use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::Parameter;
use crate::postgres::row_triggers;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Event;
use crate::template::Template;

/// After how many tries a write that never writes a row counts as dropped, where other writers might be the reason.
pub const CERTAIN_TRIES: usize = 3;

/// Whether the table has a trigger that could drop one of these writes. A statement has locked the table.
pub fn is_possible(template: &Template, events: &[Event]) -> bool {
    events.iter().any(|event| row_triggers::exist(template.table, *event, c"keyed_guard"))
}

/// The error of a write that was dropped.
pub fn error(template: &Template) -> Error {
    Error::new(Code::InvalidValue, format!("a trigger of {} dropped the write", template.full_name()))
        .hint("A trigger before the row returned NULL. Have it return the row, or raise an exception that says why.")
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
