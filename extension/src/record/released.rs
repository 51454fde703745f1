//! The key of a live record is in `external_key`, and the key of a deleted record in a separate column.
//!
//! So the unique index contains live records only and needs no real predicate, and `ON CONFLICT (external_key)` works
//! for every client. The trigger moves the key on delete and restore. Responses show the key of a deleted record too.

use crate::error::{Code, Error};
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard;
use crate::postgres::trigger::Row;
use crate::template::{Template, column};
use crate::value::key;
use pgrx::pg_sys::Datum;

/// The key that a record shows, from its columns by number.
pub fn shown(template: &Template, get: impl Fn(i16) -> Option<Datum>) -> Option<Datum> {
    get(column::EXTERNAL_KEY).or_else(|| template.released_key.and_then(get))
}

/// The same as an expression over the table `t`.
pub fn shown_sql(template: &Template) -> String {
    match template.released_key {
        Some(_) => format!("coalesce(t.external_key, t.{})", column::RELEASED_KEY),
        None => "t.external_key".to_owned(),
    }
}

/// Whether two rows show the same key.
pub fn displays_same_key(template: &Template, old: &Row, new: &Row) -> bool {
    match (shown(template, |number| old.get(number)), shown(template, |number| new.get(number))) {
        (Some(old), Some(new)) => datum::is_same_text(old, new),
        (old, new) => old.is_none() && new.is_none(),
    }
}

/// The columns of the key in a row that is written.
pub struct KeyColumns {
    /// The columns to replace.
    pub replaced: Vec<(i16, Argument)>,
    /// Whether the record shows the same key as before.
    pub is_same: bool,
}

/// Checks and trims the key of a row that is written, and moves it to the right column. The trigger calls this for every
/// writer.
pub fn assign_key(template: &Template, old: Option<&Row>, new: &Row) -> Result<KeyColumns, Error> {
    let released = template.released_key.ok_or_else(guard::not_migrated)?;
    let is_deleted = |row: &Row| row.get(column::DELETED_AT).is_some();
    let was_deleted = old.is_some_and(is_deleted);
    let (sent, sent_released) = (new.get(column::EXTERNAL_KEY), new.get(released));
    if sent_released.is_some() && !was_deleted && (old.is_some() || !is_deleted(new)) {
        let message = format!("{} of a live record cannot be set", column::RELEASED_KEY);
        return Err(Error::at(Code::InvalidValue, format!("/{}", column::RELEASED_KEY), message)
            .hint("Omit it, and set external_key. The database maintains this column."));
    }
    // A restore reuses the released key, unless the statement sets external_key or clears the released key.
    let key = sent.or(sent_released);
    let before = old.and_then(|old| shown(template, |number| old.get(number)));
    let is_same = match (before, key) {
        (Some(before), Some(key)) => datum::is_same_text(before, key),
        (before, key) => before.is_none() && key.is_none(),
    };
    let normalized = key.filter(|_| !is_same).map(normalize).transpose()?.flatten();
    let is_same =
        is_same || normalized.zip(before).is_some_and(|(key, before)| datum::is_same_text(key, before));
    let key = normalized.or(key);
    let (live, deleted) = if is_deleted(new) { (None, key) } else { (key, None) };
    let mut replaced = Vec::new();
    for (number, sent, assigned) in [(column::EXTERNAL_KEY, sent, live), (released, sent_released, deleted)] {
        // Equal datums need no replacement.
        if sent.map(|it| it.value()) != assigned.map(|it| it.value()) {
            replaced.push((number, assigned));
        }
    }
    Ok(KeyColumns { replaced, is_same })
}

/// The normalized key, if it differs from the written one.
fn normalize(key: Datum) -> Result<Argument, Error> {
    datum::with_text(key, |text| {
        let normalized = key::normalize(text)?;
        Ok(if normalized.len() == text.len() { None } else { datum::text(normalized) })
    })
}
