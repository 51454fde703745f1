//! Notes that row triggers leave for the end of the statement.

use super::transaction::Moment;
use pgrx::pg_sys::Oid;

/// Subjects that wait, each with the table it belongs to and the subtransaction it was noted in: a note of one that
/// failed is never followed.
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
    /// Nothing waits.
    pub const fn new() -> Self {
        Notes(Vec::new())
    }

    /// Takes a note; answers how many wait.
    pub fn push(&mut self, table: Oid, moment: Moment, subject: T) -> usize {
        // What statements noted that have failed since is dropped.
        if self.0.last().is_some_and(|note| note.moment != moment) {
            self.0.retain(|note| note.moment.may_still_commit(moment));
        }
        self.0.push(Note { table, moment, subject });
        self.0.len()
    }

    /// All that wait, to be changed.
    pub fn subjects(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|note| &mut note.subject)
    }

    /// Whether anything of this table waits.
    pub fn is_waiting(&self, table: Oid) -> bool {
        self.0.iter().any(|note| note.table == table)
    }

    /// Hands over what was noted of this table at this moment, in the order of the notes.
    pub fn take(&mut self, table: Oid, moment: Moment) -> Vec<T> {
        let is_due = |note: &mut Note<T>| note.table == table && note.moment == moment;
        self.0.extract_if(.., is_due).map(|note| note.subject).collect()
    }
}
