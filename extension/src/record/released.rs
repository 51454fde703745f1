//! The key of a record is in `external_key` while it is live, and in a separate column when it is deleted.
//!
//! So the unique index contains live records only and needs no real predicate, and `ON CONFLICT (external_key)` works
//! for every client. The trigger moves the key on every delete or restore; a deleted record still shows it.

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
pub fn shows_same(template: &Template, old: &Row, new: &Row) -> bool {
    match (shown(template, |number| old.get(number)), shown(template, |number| new.get(number))) {
        (Some(old), Some(new)) => datum::is_same_text(old, new),
        (old, new) => old.is_none() && new.is_none(),
    }
}

/// The two columns of the key as a row is to be stored.
pub struct Placed {
    /// The columns that were written otherwise.
    pub replaced: Vec<(i16, Argument)>,
    /// Whether the record shows the same key as before.
    pub is_same: bool,
}

/// Checks and trims the key of a row that is written, and puts it into the column where it belongs. Every writer passes
/// here, through the trigger.
pub fn place(template: &Template, old: Option<&Row>, new: &Row) -> Result<Placed, Error> {
    let released = template.released_key.ok_or_else(guard::not_migrated)?;
    let is_deleted = |row: &Row| row.get(column::DELETED_AT).is_some();
    let was_deleted = old.is_some_and(is_deleted);
    let (sent, sent_released) = (new.get(column::EXTERNAL_KEY), new.get(released));
    if sent_released.is_some() && !was_deleted && (old.is_some() || !is_deleted(new)) {
        let message = format!("{} is set by the database: a live record has none", column::RELEASED_KEY);
        return Err(Error::at(Code::InvalidValue, format!("/{}", column::RELEASED_KEY), message)
            .hint("Leave it out, and write external_key."));
    }
    // A restore takes the old key back, unless it says another, or takes the old one away.
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
    let (live, dead) = if is_deleted(new) { (None, key) } else { (key, None) };
    let mut replaced = Vec::new();
    for (number, sent, wanted) in [(column::EXTERNAL_KEY, sent, live), (released, sent_released, dead)] {
        // The same datum, or none on both sides, is the row's own.
        if sent.map(|it| it.value()) != wanted.map(|it| it.value()) {
            replaced.push((number, wanted));
        }
    }
    Ok(Placed { replaced, is_same })
}

/// The key as it is stored, where that is not what was written.
fn normalize(key: Datum) -> Result<Argument, Error> {
    datum::with_text(key, |text| {
        let normalized = key::normalize(text)?;
        Ok(if normalized.len() == text.len() { None } else { datum::text(normalized) })
    })
}
