//! Keeps search documents up to date: in the transaction that writes a record, and only when a text changes.
//!
//! The row trigger notes records that need a new document; the statement trigger writes their documents, from the
//! rows as they are then. So the order of other triggers that write the same record does not matter. Notes contain no texts, but
//! for a few records that keyed's own functions write: their documents are [composed](super::composed) from the row that the
//! trigger has.

use super::composed;
use super::write::{self, Stale};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::notes::Notes;
use crate::postgres::transaction::Moment;
use crate::postgres::trigger::{Firing, Row};
use crate::template::{Template, column};
use pgrx::pg_sys::Oid;
use std::cell::RefCell;
use uuid::Uuid;

/// A statement of more rows writes its documents in portions of this many.
const PORTION: usize = 8000;

thread_local! {
    /// The records whose documents wait for the end of the statement.
    static NOTES: RefCell<Notes<Stale>> = const { RefCell::new(Notes::new()) };
}

/// A record is no longer new: another trigger has written it.
pub fn is_no_longer_fresh(record: Uuid) {
    NOTES.with_borrow_mut(|notes| {
        notes.subjects().filter(|stale| stale.record == record).for_each(|stale| stale.is_fresh = false);
    });
}

/// Notes the record of a row that was written, when that changes its document. `is_fresh` says that this session has
/// just made the record, so that it has no document yet.
pub fn note(template: &Template, firing: &Firing, is_fresh: bool, moment: Moment) {
    if !template.has_documents || !changes_document(template, firing) {
        return;
    }
    let Some(row) = firing.new.as_ref().or(firing.old.as_ref()) else { return };
    let Some(record) = row.get(column::ID).map(datum::read_uuid) else { return };
    composed::note(template, firing, record, moment);
    let stale = Stale { record, is_fresh };
    let waiting = NOTES.with_borrow_mut(|notes| notes.push(template.table, moment, stale));
    if waiting >= PORTION {
        flush(template, moment);
    }
}

/// Whether records of this table wait.
pub fn is_waiting(table: Oid) -> bool {
    NOTES.with_borrow(|notes| notes.is_waiting(table))
}

/// Writes the documents of the records noted at this moment.
pub fn flush(template: &Template, moment: Moment) {
    let mut records = NOTES.with_borrow_mut(|notes| notes.take(template.table, moment));
    if records.is_empty() {
        return;
    }
    records.sort_unstable_by_key(|stale| stale.record);
    // There is no document yet where all notes say so.
    records.dedup_by(|later, earlier| {
        let is_same = later.record == earlier.record;
        earlier.is_fresh &= !is_same || later.is_fresh;
        is_same
    });
    as_owner(|| match composed::take(&records, moment) {
        Some((fresh, others)) => write::store(template, fresh, others),
        None => write::refresh(template, &records),
    });
}

fn changes_document(template: &Template, firing: &Firing) -> bool {
    let is_live = |row: &Option<Row>| row.as_ref().is_some_and(|row| row.get(column::DELETED_AT).is_none());
    match (is_live(&firing.old), is_live(&firing.new)) {
        (false, false) => false,
        (true, true) => {
            let (Some(old), Some(new)) = (&firing.old, &firing.new) else { return false };
            let covered = template.attributes.iter().filter(|attribute| write::is_covered(attribute));
            !new.same(old, column::EXTERNAL_KEY)
                || covered.into_iter().any(|attribute| !new.same(old, attribute.column))
        }
        _ => true,
    }
}
