//! Files that only change records: `mode=update`.

use super::run::{Run, outcome_of};
use super::update::missing;
use super::{Outcome, Row};
use crate::batch;
use crate::error::{Code, Error};
use crate::record::key::Key;
use crate::record::mode::Mode;

impl Run<'_> {
    /// The rows that may be written: those that name no record only create one.
    pub(super) fn without_nameless<'a>(&mut self, rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
        if self.mode != Mode::Update {
            return rows;
        }
        let (nameless, named) = rows.into_iter().partition::<Vec<_>, _>(|row| row.record_hash().is_none());
        for row in nameless {
            self.settle(row.index, Outcome::Refused(self::nameless()));
        }
        named
    }

    /// The outcome of a row that was written alone.
    pub(super) fn outcome_of(&self, done: batch::outcome::Outcome, key: &Key) -> Outcome {
        match (done, key.value()) {
            (Err(error), Some(key)) if self.mode == Mode::Update && error.code == Code::NotFound => {
                Outcome::Refused(missing(self.template, key))
            }
            (done, _) => outcome_of(done),
        }
    }
}

/// The refusal of a row that names no record, where a file only changes records.
fn nameless() -> Error {
    Error::at(Code::InvalidExternalKey, "/external_key", "the row has neither a key nor an id")
        .hint("Add one, or import the row without mode=update, which creates a record.")
}
