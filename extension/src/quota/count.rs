//! Counts new records and writes: collected row by row, counted at the end of the statement. The counters are
//! updated once for a statement of any size, and a statement is counted or rejected as a whole.

use super::{Name, counter, of_project};
use crate::error::Error;
use crate::postgres::transaction::Moment;
use crate::template::Template;
use pgrx::pg_sys::Oid;
use std::cell::RefCell;

/// The changes of a statement to a table so far.
struct Note {
    table: Oid,
    /// Its subtransaction. Changes of a failed subtransaction are not counted.
    moment: Moment,
    live: i64,
    writes: i64,
}

thread_local! {
    static NOTES: RefCell<Vec<Note>> = const { RefCell::new(Vec::new()) };
}

/// Collects the change of a row: whether it was a live record before, and whether it is one now.
pub fn note(template: &Template, was_live: bool, is_live: bool, moment: Moment) {
    let quotas = of_project(template.project_id);
    if !Name::ALL.into_iter().any(|name| name.has_slots() && quotas.maximum(name).is_some()) {
        return;
    }
    let live = i64::from(is_live) - i64::from(was_live);
    NOTES.with_borrow_mut(|notes| {
        if notes.last().is_some_and(|last| last.moment != moment) {
            notes.retain(|note| note.moment.may_still_commit(moment));
        }
        let found = notes.iter_mut().find(|note| note.table == template.table && note.moment == moment);
        match found {
            Some(note) => {
                note.live += live;
                note.writes += 1;
            }
            None => notes.push(Note { table: template.table, moment, live, writes: 1 }),
        }
    });
}

/// Whether changes of a table are pending.
pub fn is_waiting(table: Oid) -> bool {
    NOTES.with_borrow(|notes| notes.iter().any(|note| note.table == table))
}

/// Counts the changes of the statement that is ending, or rejects the statement.
pub fn settle(template: &Template, moment: Moment) -> Result<(), Error> {
    let taken: Vec<Note> = NOTES.with_borrow_mut(|notes| {
        notes.extract_if(.., |note| note.table == template.table && note.moment == moment).collect()
    });
    for note in taken {
        settle_one(template, &note)?;
    }
    Ok(())
}

fn settle_one(template: &Template, note: &Note) -> Result<(), Error> {
    let quotas = of_project(template.project_id);
    // Always in this order, in which the locks are taken too.
    for (name, count) in [(Name::LiveRecords, note.live), (Name::WritesPerDay, note.writes)] {
        if count != 0 && quotas.maximum(name).is_some() {
            counter::add(template.project_id, name, count)
                .map_err(|reached| reached.to_error(&template.project_slug))?;
        }
    }
    Ok(())
}

/// Releases the usage of records that are removed without row triggers: by TRUNCATE, or with their
/// table.
pub fn release(template: &Template, live: i64) -> Result<(), Error> {
    if live != 0 && of_project(template.project_id).maximum(Name::LiveRecords).is_some() {
        counter::add(template.project_id, Name::LiveRecords, -live)
            .map_err(|reached| reached.to_error(&template.project_slug))?;
    }
    Ok(())
}
