//! The parameter that says how a file writes values.

use serde_json::value::RawValue;

use crate::problem::Problem;

/// The format of cells: an object, which the database reads.
pub(crate) fn cell_format(text: &str) -> Result<Box<RawValue>, Problem> {
    let format = serde_json::from_str::<Box<RawValue>>(text).ok().filter(|it| it.get().starts_with('{'));
    format.ok_or_else(|| {
        Problem::malformed("the query parameter \"format\" is not a JSON object").with_hint(
            "Write how the file writes values, for example {\"decimal\": \",\", \"date\": \"DD.MM.YYYY\"}.",
        )
    })
}
