//! Work that row triggers leave for the end of the statement.

use super::transaction::Moment;
use pgrx::pg_sys::Oid;

/// Pending items, each with its table and its subtransaction. Items of an aborted subtransaction are discarded.
pub struct Notes<T>(Vec<Note<T>>);

struct Note<T> {
    table: Oid,
    moment: Moment,
    subject: T,
}

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Notes<T> {
    /// No pending items.
    pub const fn new() -> Self {
        Notes(Vec::new())
    }

    /// Adds an item, and returns the number of pending items.
    pub fn push(&mut self, table: Oid, moment: Moment, subject: T) -> usize {
        // Discards items of aborted subtransactions.
        if self.0.last().is_some_and(|note| note.moment != moment) {
            self.0.retain(|note| note.moment.may_still_commit(moment));
        }
        self.0.push(Note { table, moment, subject });
        self.0.len()
    }

    /// All pending items.
    pub fn subjects(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|note| &mut note.subject)
    }

    /// Whether the table has pending items.
    pub fn is_waiting(&self, table: Oid) -> bool {
        self.0.iter().any(|note| note.table == table)
    }

    /// Removes the items of this table and subtransaction, and returns them in order.
    pub fn take(&mut self, table: Oid, moment: Moment) -> Vec<T> {
        let is_due = |note: &mut Note<T>| note.table == table && note.moment == moment;
        self.0.extract_if(.., is_due).map(|note| note.subject).collect()
    }
}
