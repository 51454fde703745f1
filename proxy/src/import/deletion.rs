//! What an import with `mode=mirror` deletes: the records that the file does not have.

use serde::{Deserialize, Serialize};

use super::warnings::Warning;
use crate::problem::Problem;

/// The answer of the database to a call after the last row.
#[derive(Deserialize)]
struct Answer {
    is_complete: bool,
    deleted: u64,
    exceeds: bool,
    #[serde(flatten)]
    deletion: Deletion,
}

/// The records that were compared with the file, a part of the report.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Deletion {
    /// The records that match the filter and that the caller may delete.
    matching: u64,
    /// The share of these that is deleted.
    share: f64,
    /// The first keys of the deleted records.
    keys: Vec<String>,
}

/// What is known of the deletion so far.
pub(crate) struct Step {
    pub(crate) is_complete: bool,
    pub(crate) deleted: u64,
    pub(crate) deletion: Deletion,
    /// In a dry run, that the import would be rejected.
    pub(crate) warning: Option<Warning>,
}

impl Step {
    /// Reads the answer of the database.
    pub(crate) fn of(answer: &str) -> Result<Step, Problem> {
        let answer: Answer = serde_json::from_str(answer)
            .map_err(|error| Problem::internal(format!("not the answer of a deletion: {error}")))?;
        let Answer { is_complete, deleted, exceeds, deletion } = answer;
        let warning = exceeds.then(|| {
            Warning::of_share(format!(
                "the import would be rejected: it would delete {deleted} of {} records, which is more than max_deleted_share",
                deletion.matching
            ))
        });
        Ok(Step { is_complete, deleted, deletion, warning })
    }
}
