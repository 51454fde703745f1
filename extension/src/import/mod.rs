//! Import: rows of a file → records, by the same rules as every other write.
//!
//! ```text
//! rows as text ──csv | ndjson──▶ Row ──run (waves, groups)──▶ Outcome ──report──▶ JSON
//! ```
//!
//! The proxy splits a file into portions of complete rows and calls `keyed_http.import_rows` for each, in one
//! transaction or in several. A portion is written by set-based statements.

/// Cells in the format of their file.
pub mod cells;
/// The header of a CSV file → columns.
pub mod columns;
/// CSV → rows.
pub mod csv;
/// Rows that refer to each other in cycles.
pub mod cycles;
/// The SQL functions.
pub mod functions;
/// The records of waiting rows.
pub mod held;
/// Who imports a file as a whole.
pub mod importer;
/// Values that a limited column rejects.
pub mod limited;
/// References by a text of their target.
pub mod matching;
/// JSON, line by line → rows.
pub mod ndjson;
/// Numbers that may mean others.
pub mod numbers;
/// The options of an import.
pub mod options;
/// The references of rows, and what their records may keep.
mod references;
/// Outcomes → JSON.
pub mod report;
/// Rows → records.
pub mod run;
/// Imports of a file in one transaction.
pub mod single_transaction;
/// Formats that fit the cells.
pub mod suggestions;
/// Updates existing records.
pub mod update;
/// Files that only change records.
mod update_only;
/// Which rows go together.
pub mod waves;

use crate::error::Error;
use crate::template::Template;
use crate::value::change::{Change, Changes, Value};
use crate::value::normal_form::composed;
use crate::value::vector::Embedding;
use std::hash::{DefaultHasher, Hash, Hasher};
use uuid::Uuid;

/// One row of a file: the changes of one record.
#[derive(Clone)]
pub struct Row<'a> {
    /// Its position among the rows of its portion.
    pub index: usize,
    /// The external key of the record, normalised.
    pub key: Option<String>,
    /// The record, where it is named by its id because it has no key.
    pub id: Option<Uuid>,
    /// What happens to its attributes.
    pub changes: Changes<'a>,
    /// What happens to its vector.
    pub embedding: Embedding,
    /// Whether its record is known to exist: it is locked, because it keeps values.
    pub exists: bool,
}

/// A hash of the key or id of a row's record, the same in every session. A collision only makes a row wait longer
/// than needed.
pub type RecordHash = u64;

/// The hash of the record that has a text in an attribute, in any normal form.
fn hash_of_text(attribute: i32, text: &str) -> RecordHash {
    let mut hasher = DefaultHasher::new();
    (attribute, composed(text)).hash(&mut hasher);
    hasher.finish()
}

/// The hash of the record with a key.
fn hash_of_key(key: &str) -> RecordHash {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Row<'_> {
    /// The hash of its record; none if it creates one without a key.
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

    /// The records of its own template that it refers to and that do not exist.
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

    /// The hashes of the texts by which other rows refer to its record, in these attributes.
    fn texts(&self, template: &Template, matched: &[usize]) -> impl Iterator<Item = RecordHash> {
        let changes = self.changes.iter().filter(|(position, _)| matched.contains(position));
        changes.filter_map(|(position, change)| match change {
            Change::Set(Value::Text(text)) => Some(hash_of_text(template.attributes[*position].id, text)),
            _ => None,
        })
    }

    /// The outcome of a row that waits for its references.
    fn waits(&self, template: &Template, matched: &[usize]) -> Outcome {
        Outcome::Waits {
            name: self.record_hash(),
            texts: self.texts(template, matched).collect(),
            targets: self.targets(template).collect(),
        }
    }
}

/// The outcome of a row.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A record was made.
    Created,
    /// A record was changed.
    Updated,
    /// The record held these values already.
    Unchanged,
    /// It refers to a record that a later row may create, or follows such a row of the same record.
    Waits {
        /// Its record.
        name: Option<RecordHash>,
        /// The texts by which other rows refer to it.
        texts: Vec<RecordHash>,
        /// What it refers to.
        targets: Vec<RecordHash>,
    },
    /// Nothing was written.
    Refused(Error),
}
