//! The deletion of an import with `mode=mirror`: records that are not in the file.

use serde::{Deserialize, Serialize};

use super::warnings::Warning;
use crate::problem::Problem;

/// The result of a database call after the last row.
#[derive(Deserialize)]
struct DeletionResult {
    is_complete: bool,
    deleted: u64,
    exceeds: bool,
    #[serde(flatten)]
    deletion: Deletion,
}

/// The part of the report about the records that were compared with the file.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Deletion {
    /// The number of records that match the filter and that the caller can delete.
    matching: u64,
    /// The share of these records that is deleted.
    share: f64,
    /// The first keys of the deleted records.
    keys: Vec<String>,
}

/// The progress of the deletion.
pub(crate) struct Step {
    pub(crate) is_complete: bool,
    pub(crate) deleted: u64,
    pub(crate) deletion: Deletion,
    /// In a dry run, a warning that the import would be rejected.
    pub(crate) warning: Option<Warning>,
}

impl Step {
    /// Parses the result of the database.
    pub(crate) fn of(result: &str) -> Result<Step, Problem> {
        let result: DeletionResult = serde_json::from_str(result)
            .map_err(|error| Problem::internal(format!("not the result of a deletion: {error}")))?;
        let DeletionResult { is_complete, deleted, exceeds, deletion } = result;
        let warning = exceeds.then(|| {
            Warning::of_share(format!(
                "the import would be rejected: it would delete {deleted} of {} records, which is more than max_deleted_share",
                deletion.matching
            ))
        });
        Ok(Step { is_complete, deleted, deletion, warning })
    }
}
