//! The import of another file, for which this one waits.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The answer of the database to a file that does not wait.
#[derive(Deserialize)]
struct Waits<'a> {
    #[serde(borrow)]
    waits_for: &'a RawValue,
}

/// Who imports the other file, if the database says so in place of an answer.
pub(super) fn in_the_way(answer: &str) -> Option<&RawValue> {
    serde_json::from_str(answer).ok().map(|Waits { waits_for }| waits_for)
}
