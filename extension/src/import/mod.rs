//! Import: rows of a file → records, by the same rules as every other write.
//!
//! ```text
//! rows as text ──csv | ndjson──▶ Row ──run, cycles (order), writer──▶ Outcome ──report──▶ JSON
//! ```
//!
//! The proxy splits a file into chunks of complete rows and calls `keyed_http.import_rows` for each, in one
//! transaction or in several. A chunk is written by set-based statements.

/// Cells in the format of their file.
pub mod cells;
/// The header of a CSV file → columns.
pub mod columns;
/// CSV → rows.
pub mod csv;
/// Rows that reference each other in cycles.
mod cycles;
/// The SQL functions.
pub mod functions;
/// Values that a limited column rejects.
pub mod limited;
/// References that identify their target by a string attribute.
pub mod matching;
/// Deletes records that are missing from a file.
pub mod mirror;
/// JSON, line by line → rows.
pub mod ndjson;
/// Numbers with an ambiguous thousands separator.
pub mod numbers;
/// The options of an import.
pub mod options;
/// The references of rows.
mod references;
/// Outcomes → JSON.
pub mod report;
/// The order of rows.
pub mod run;
/// Imports of a file in one transaction.
pub mod single_transaction;
/// Formats that fit the cells.
pub mod suggestions;
/// Updates existing records.
pub mod update;
/// Rows → records.
mod writer;

use crate::error::Error;
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use crate::value::normal_form::composed;
use crate::value::vector::Embedding;
use keyed_write_order::rows::RecordHash;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use uuid::Uuid;

/// One row of a file: the changes of one record.
#[derive(Clone)]
pub struct Row<'a> {
    /// Its position among the rows of its chunk.
    pub index: usize,
    /// The external key of the record, normalized.
    pub key: Option<String>,
    /// The id of the record, for rows without a key.
    pub id: Option<Uuid>,
    /// The changes of its attributes.
    pub changes: Changes<'a>,
    /// The change of its vector.
    pub embedding: Embedding,
    /// Whether its record is locked and therefore exists.
    pub exists: bool,
}

/// The hash that identifies a record by a string attribute, in any normalization form.
fn hash_of_text(attribute: i32, text: &str) -> RecordHash {
    let mut hasher = DefaultHasher::new();
    (attribute, composed(text)).hash(&mut hasher);
    hasher.finish()
}

/// The hash that identifies a record by its key.
fn hash_of_key(key: &str) -> RecordHash {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Row<'_> {
    /// The hash of its record; none for a new record without a key.
    fn record_hash(&self) -> Option<RecordHash> {
        match (&self.key, self.id) {
            (Some(key), _) => Some(hash_of_key(key)),
            (None, Some(id)) => {
                let mut hasher = DefaultHasher::new();
                id.hash(&mut hasher);
                Some(hasher.finish())
            }
            (None, None) => None,
        }
    }

    /// The missing records of its own template that it references.
    fn targets(&self, template: &Template) -> impl Iterator<Item = RecordHash> {
        let own = |position: usize| template.attributes[position].target == Some(template.id);
        self.changes.iter().filter_map(move |(position, change)| match change {
            Change::Set(Value::ReferenceByKey(key)) if own(*position) => Some(hash_of_key(key)),
            Change::Set(Value::ReferenceByText(attribute, text)) if own(*position) => {
                Some(hash_of_text(*attribute, text))
            }
            _ => None,
        })
    }

    /// The strings in these attributes by which other rows reference its record.
    fn texts(&self, template: &Template, matched: &[usize]) -> impl Iterator<Item = RecordHash> {
        let changes = self.changes.iter().filter(|(position, _)| matched.contains(position));
        changes.filter_map(|(position, change)| match change {
            Change::Set(Value::Text(text)) => Some(hash_of_text(template.attributes[*position].id, text)),
            _ => None,
        })
    }

    /// Whether a reference has no target yet.
    fn has_unresolved(&self) -> bool {
        self.changes.iter().any(|(_, change)| is_unresolved(change))
    }

    /// The outcome of a row that waits for the targets of its references.
    fn waits(&self, template: &Template, matched: &[usize]) -> Outcome {
        Outcome::Waits {
            record: self.record_hash(),
            texts: self.texts(template, matched).collect(),
            targets: self.targets(template).collect(),
        }
    }
}

/// The first row of each record, and the others.
fn first_of_each_record(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    let mut seen: HashSet<RecordHash> = HashSet::with_capacity(rows.len());
    rows.into_iter().partition(|row| row.record_hash().is_none_or(|record| seen.insert(record)))
}

/// Whether a change is a reference without a target yet.
fn is_unresolved(change: &Change) -> bool {
    matches!(change, Change::Set(value) if value.is_unresolved())
}

/// The outcome of a row.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A record was created.
    Created(Uuid),
    /// A record was updated.
    Updated(Uuid),
    /// The record already had these values.
    Unchanged(Uuid),
    /// The row references a record that a later row may create, or follows such a row of the same
    /// record.
    Waits {
        /// Its record.
        record: Option<RecordHash>,
        /// The strings by which other rows reference it.
        texts: Vec<RecordHash>,
        /// The records that it references.
        targets: Vec<RecordHash>,
    },
    /// Nothing was written.
    Rejected(Error),
}

impl Outcome {
    /// The record of a row that was written or is unchanged.
    fn record(&self) -> Option<Uuid> {
        match self {
            Outcome::Created(id) | Outcome::Updated(id) | Outcome::Unchanged(id) => Some(*id),
            Outcome::Waits { .. } | Outcome::Rejected(_) => None,
        }
    }
}
