//! Documents that are made of the rows that triggers have, which saves the statement that reads these rows again.
//!
//! A document is used if the row is the last one of its record when the statement ends. Another trigger may have written the record
//! before, then the row is an old version already when it is seen; or write it after, then the record is noted once more. Both
//! leave the record without a document here, and its row is read.

use super::write::{self, Stale, Written};
use crate::postgres::own_statement::is_own_statement;
use crate::postgres::transaction::Moment;
use crate::postgres::trigger::Firing;
use crate::template::{Template, column};
use std::cell::RefCell;
use uuid::Uuid;

/// So many documents are kept: one for the statement of a single record, and some for those that triggers write. For many records,
/// one statement that reads all rows costs little for each.
const MOST: usize = 4;
/// Longer ones are not kept.
const LONGEST: usize = 256 * 1024;

/// The document of a record, unless its row has to be read.
struct Composed {
    record: Uuid,
    moment: Moment,
    document: Option<String>,
}

thread_local! {
    static COMPOSED: RefCell<Vec<Composed>> = const { RefCell::new(Vec::new()) };
}

/// Composes the document of a row that was written.
pub fn note(template: &Template, firing: &Firing, record: Uuid, moment: Moment) {
    let is_noted = COMPOSED.with_borrow_mut(|composed| {
        composed.retain(|it| it.moment.may_still_commit(moment));
        let mut noted = composed.iter_mut().filter(|it| it.record == record).peekable();
        let is_noted = noted.peek().is_some();
        noted.for_each(|it| it.document = None);
        is_noted || composed.len() >= MOST
    });
    if is_noted || !is_own_statement(firing.table) || !firing.is_latest() {
        return;
    }
    let Some(row) = firing.new.as_ref().filter(|row| row.get(column::DELETED_AT).is_none()) else { return };
    let document = write::compose(template, row).filter(|document| document.len() <= LONGEST);
    COMPOSED.with_borrow_mut(|composed| composed.push(Composed { record, moment, document }));
}

/// The documents of these records, those of fresh ones first; none unless there is one for each. They are forgotten.
pub fn take(records: &[Stale], moment: Moment) -> Option<(Vec<Written>, Vec<Written>)> {
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
