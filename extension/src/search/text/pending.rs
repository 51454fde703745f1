//! Writes search documents in the transaction that writes a record, and only if a text changes.
//!
//! The row trigger collects the records that need a new document; the statement trigger writes their documents from the
//! current rows. So the order of other triggers that write the same record does not matter. The collected entries contain no
//! text, except for a few records that keyed's own functions write: their documents are composed from the row of the
//! trigger, which saves the statement that reads the row again.
//!
//! A composed document is used if its row is the latest version when the statement ends. If another trigger wrote the record
//! before, the row is an old version already; if it writes the record afterwards, the record is collected again. In both
//! cases the row is read.

use super::write::{self, Stale, Written};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::notes::Notes;
use crate::postgres::own_statement::is_own_statement;
use crate::postgres::transaction::Moment;
use crate::postgres::trigger::{Firing, Row};
use crate::template::{Template, column};
use pgrx::pg_sys::Oid;
use std::cell::RefCell;
use uuid::Uuid;

/// A statement of more rows writes its documents in chunks of this size.
const CHUNK: usize = 8000;
/// The maximum number of composed documents: one for the statement of a single record, and some for records that triggers
/// write. For many records, one statement that reads all rows costs little for each.
const MAX_COMPOSED: usize = 4;
/// The maximum length of a composed document.
const MAX_LENGTH: usize = 256 * 1024;

thread_local! {
    /// The records whose documents are written at the end of the statement.
    static NOTES: RefCell<Notes<Stale>> = const { RefCell::new(Notes::new()) };
}

/// A record is no longer new: another trigger has written it.
pub fn forget_fresh(record: Uuid) {
    NOTES.with_borrow_mut(|notes| {
        notes.subjects().filter(|stale| stale.record == record).for_each(|stale| stale.is_fresh = false);
    });
}

/// Collects the record of a written row if its document changes. `is_fresh` is true if this session has just created
/// the record, so that it has no document yet.
pub fn note(template: &Template, firing: &Firing, is_fresh: bool, moment: Moment) {
    if !template.has_documents || !changes_document(template, firing) {
        return;
    }
    let Some(row) = firing.new.as_ref().or(firing.old.as_ref()) else { return };
    let Some(record) = row.get(column::ID).map(datum::read_uuid) else { return };
    compose(template, firing, record, moment);
    let stale = Stale { record, is_fresh };
    let waiting = NOTES.with_borrow_mut(|notes| notes.push(template.table, moment, stale));
    if waiting >= CHUNK {
        flush(template, moment);
    }
}

/// Whether records of this table are pending.
pub fn is_waiting(table: Oid) -> bool {
    NOTES.with_borrow(|notes| notes.is_waiting(table))
}

/// Writes the documents of the records that are pending now.
pub fn flush(template: &Template, moment: Moment) {
    let mut records = NOTES.with_borrow_mut(|notes| notes.take(template.table, moment));
    if records.is_empty() {
        return;
    }
    records.sort_unstable_by_key(|stale| stale.record);
    // If all entries are fresh, no document exists yet.
    records.dedup_by(|later, earlier| {
        let is_same = later.record == earlier.record;
        earlier.is_fresh &= !is_same || later.is_fresh;
        is_same
    });
    as_owner(|| match take_composed(&records, moment) {
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

/// The document of a record; `None` if its row has to be read.
struct Composed {
    record: Uuid,
    moment: Moment,
    document: Option<String>,
}

thread_local! {
    static COMPOSED: RefCell<Vec<Composed>> = const { RefCell::new(Vec::new()) };
}

/// Composes the document of a row that was written.
fn compose(template: &Template, firing: &Firing, record: Uuid, moment: Moment) {
    let is_noted = COMPOSED.with_borrow_mut(|composed| {
        composed.retain(|it| it.moment.may_still_commit(moment));
        let mut noted = composed.iter_mut().filter(|it| it.record == record).peekable();
        let is_noted = noted.peek().is_some();
        noted.for_each(|it| it.document = None);
        is_noted || composed.len() >= MAX_COMPOSED
    });
    if is_noted || !is_own_statement(firing.table) || !firing.is_latest() {
        return;
    }
    let Some(row) = firing.new.as_ref().filter(|row| row.get(column::DELETED_AT).is_none()) else { return };
    let document = write::compose(template, row).filter(|document| document.len() <= MAX_LENGTH);
    COMPOSED.with_borrow_mut(|composed| composed.push(Composed { record, moment, document }));
}

/// Removes and returns the composed documents of these records, those of fresh records first; `None`
/// unless each has one.
fn take_composed(records: &[Stale], moment: Moment) -> Option<(Vec<Written>, Vec<Written>)> {
    let taken: Vec<Composed> =
        COMPOSED.with_borrow_mut(|composed| composed.extract_if(.., |it| it.moment == moment).collect());
    if records.len() > taken.len() {
        return None;
    }
    let (mut fresh, mut others) = (Vec::new(), Vec::new());
    for stale in records {
        let document = taken.iter().find(|it| it.record == stale.record)?.document.clone()?;
        if stale.is_fresh { &mut fresh } else { &mut others }.push((stale.record, document));
    }
    Some((fresh, others))
}
