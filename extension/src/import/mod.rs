//! Import: rows of a file → records, by the same rules as every other write.
//!
//! ```text
//! rows as text ──csv | ndjson──▶ Row ──run (waves, groups)──▶ Outcome ──report──▶ JSON
//! ```
//!
//! The proxy cuts a file into portions of whole rows and calls `keyed_http.import_rows` for each, within one
//! transaction or one after the other. A portion is written by statements that take all its rows at once.

/// One cell of a CSV file → what it does to an attribute.
pub mod cell;
/// Rows that refer to each other.
pub mod circle;
/// The header of a CSV file → what its columns are.
pub mod columns;
/// CSV → rows.
pub mod csv;
/// The SQL functions.
pub mod functions;
/// JSON, line by line → rows.
pub mod ndjson;
/// What the caller says of a file.
pub mod options;
/// Outcomes → JSON.
pub mod report;
/// Rows → records.
pub mod run;
/// Texts and lists in a cell.
pub mod spelling;
/// Changes of records that are there.
pub mod update;
/// One transaction for a whole file.
pub mod whole;

use crate::embedding::Embedding;
use crate::error::Error;
use crate::record::changes::Changes;
use std::hash::{DefaultHasher, Hash, Hasher};
use uuid::Uuid;

/// One row of a file: what is to become of one record.
#[derive(Clone)]
pub struct Row<'a> {
    /// Where it stands among the rows of its portion.
    pub index: usize,
    /// The external key of the record, normalised.
    pub key: Option<String>,
    /// The record, where it is named by its id because it has no key.
    pub id: Option<Uuid>,
    /// What happens to its attributes.
    pub changes: Changes<'a>,
    /// What happens to its vector.
    pub embedding: Embedding,
}

/// A number that stands for the record of a row, the same in every session. Should two share one, a row waits for another
/// in vain.
pub type Name = u64;

impl Row<'_> {
    /// Which record it is about; none where it makes one without a key.
    fn name(&self) -> Option<Name> {
        let mut hasher = DefaultHasher::new();
        match (&self.key, self.id) {
            (Some(key), _) => key.hash(&mut hasher),
            (None, Some(id)) => id.hash(&mut hasher),
            (None, None) => return None,
        }
        Some(hasher.finish())
    }
}

/// What became of a row.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A record was made.
    Created,
    /// A record was changed.
    Updated,
    /// The record held these values already.
    Unchanged,
    /// It refers to a record that a later row of the file may bring, or comes after such a row of the same record.
    Waits(Option<Name>),
    /// Nothing was written.
    Refused(Error),
}
