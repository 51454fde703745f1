//! The report: the counts of rows, and the first errors.

use serde::{Deserialize, Serialize};

use super::deletion::{Deletion, Step};
use super::preview::Preview;
use super::suggestion::{Forms, Suggestion};
use super::warnings::{Notes, Warning, Warnings};
use crate::file::chunk::Chunk;

/// The maximum number of rejected rows in a report.
const MAX_ERRORS: usize = 1000;

/// The result of the database for a chunk.
#[derive(Deserialize)]
pub(crate) struct ChunkResult<'a> {
    created: u64,
    updated: u64,
    unchanged: u64,
    #[serde(flatten)]
    notes: Notes,
    /// The formats that match the columns.
    #[serde(default)]
    forms: Vec<Forms>,
    #[serde(borrow)]
    errors: Vec<ReportedError<'a>>,
    pub(crate) waiting: Vec<DeferredRow>,
}

/// The position of a deferred row, and the hashes of its record, of the texts by which other rows reference it, and of
/// the records that it references.
type DeferredRow = (usize, Option<u64>, Vec<u64>, Vec<u64>);

#[derive(Deserialize)]
struct ReportedError<'a> {
    row: usize,
    #[serde(borrow)]
    column: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    code: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    sqlstate: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    message: std::borrow::Cow<'a, str>,
}

/// An error in a row of the file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RowError {
    /// The line in which the row begins.
    pub(crate) line: u64,
    /// For CSV, the name of the column, or its number if it has no name. For NDJSON, the attribute.
    pub(crate) column: Option<String>,
    pub(crate) code: String,
    /// The code of the error.
    #[serde(skip)]
    pub(crate) sqlstate: String,
    pub(crate) message: String,
}

/// The report.
#[derive(Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) created: u64,
    pub(crate) updated: u64,
    pub(crate) unchanged: u64,
    pub(crate) failed: u64,
    /// The number of deleted records, with `mode=mirror`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deletion: Option<Deletion>,
    pub(crate) dry_run: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) encoding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delimiter: Option<char>,
    /// The suggested format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggested_format: Option<serde_json::Value>,
    /// The preview, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preview: Option<Preview>,
    /// Possibly unintended effects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Warning>,
    pub(crate) errors: Vec<RowError>,
    /// The warning about the deletion.
    #[serde(skip)]
    pub(super) share: Option<Warning>,
    #[serde(skip)]
    pub(super) notes: Warnings,
    #[serde(skip)]
    pub(super) suggestion: Suggestion,
}

impl Tally {
    /// Adds the counts of a chunk, and returns its rejected rows with their errors. `is_again`: the rows were deferred before.
    pub(crate) fn add(
        &mut self,
        chunk: &Chunk,
        result: ChunkResult<'_>,
        is_again: bool,
    ) -> Vec<(usize, Vec<RowError>)> {
        let ChunkResult { created, updated, unchanged, notes, forms, errors, .. } = result;
        if !is_again {
            self.suggestion.add(forms);
        }
        self.notes.add(chunk, notes, is_again);
        self.created += created;
        self.updated += updated;
        self.unchanged += unchanged;
        let mut rejected: Vec<(usize, Vec<RowError>)> = Vec::new();
        for error in errors {
            let row_error = RowError {
                line: chunk.rows.get(error.row).map_or(0, |row| row.line),
                column: error.column.map(Into::into),
                code: error.code.into(),
                sqlstate: error.sqlstate.into(),
                message: error.message.into(),
            };
            self.note(&row_error);
            match rejected.last_mut() {
                Some((row, row_errors)) if *row == error.row => row_errors.push(row_error),
                _ => rejected.push((error.row, vec![row_error])),
            }
        }
        self.failed += rejected.len() as u64;
        rejected
    }

    /// Counts a row that the proxy rejected.
    pub(crate) fn add_rejected(&mut self, row_error: &RowError) {
        self.failed += 1;
        self.note(row_error);
    }

    fn note(&mut self, row_error: &RowError) {
        self.errors.push(row_error.clone());
        if self.errors.len() >= 2 * MAX_ERRORS {
            self.sort();
        }
    }

    /// Adds the counts of deleted records.
    pub(super) fn add_deleted(&mut self, step: Step) {
        (self.deleted, self.deletion, self.share) = (Some(step.deleted), Some(step.deletion), step.warning);
    }

    /// Removes the counts of written records after a rollback.
    pub(crate) fn without_effect(&mut self) {
        (self.created, self.updated, self.unchanged) = (0, 0, 0);
        (self.deleted, self.deletion) = (None, None);
        self.notes.without_effect();
    }

    /// Sorts the errors by line and keeps the first ones, because deferred rows are rejected later than others.
    pub(crate) fn sort(&mut self) {
        self.errors.sort_by_key(|row_error| row_error.line);
        self.errors.truncate(MAX_ERRORS);
    }

    /// Adds the warnings and the suggested format.
    pub(crate) fn warn(&mut self) {
        let suggested = std::mem::take(&mut self.suggestion).end();
        self.suggested_format = suggested.format;
        if let Some(preview) = &mut self.preview {
            preview.choices = suggested.choices;
        }
        self.warnings = std::mem::take(&mut self.notes).list();
        self.warnings.extend(suggested.ambiguities.into_iter().map(Warning::of_format));
        self.warnings.extend(self.share.take());
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A progress line, which contains only the counts.
    pub(crate) fn progress(&self, bytes: u64) -> String {
        let Tally { rows, created, updated, unchanged, failed, .. } = self;
        let deleted = self.deleted.map(|deleted| format!("\"deleted\":{deleted},")).unwrap_or_default();
        format!(
            "{{\"progress\":{{\"rows\":{rows},\"created\":{created},\"updated\":{updated},\
             \"unchanged\":{unchanged},\"failed\":{failed},{deleted}\"bytes\":{bytes}}}}}\n"
        )
    }
}
