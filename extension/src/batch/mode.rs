//! The modes of a batch.

use crate::error::{Code, Error};

/// Whether the first refused operation rolls back all, and how to handle keys that others take in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All of it, or nothing.
    Atomic(Conflict),
    /// Each operation by itself.
    Each,
}

/// What an upsert does if another transaction has created a record with its key since the batch began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// The whole batch fails, and may be sent again.
    #[default]
    Fail,
    /// It waits for the other transaction, and updates the record.
    Wait,
}

impl Conflict {
    /// The choice of that name.
    pub fn parse(name: &str) -> Result<Conflict, Error> {
        match name {
            "fail" => Ok(Conflict::Fail),
            "wait" => Ok(Conflict::Wait),
            _ => Err(Error::at(
                Code::InvalidValue,
                "/conflict",
                format!("{name:?} is not a value of conflict"),
            )
            .hint("Set conflict to \"fail\" or \"wait\".")),
        }
    }
}
