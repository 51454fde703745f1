//! The parameter for the format of cells.

use serde_json::value::RawValue;

use crate::problem::Problem;

/// Parses the format of cells: an object, which the database validates.
pub(crate) fn cell_format(text: &str) -> Result<Box<RawValue>, Problem> {
    let format = serde_json::from_str::<Box<RawValue>>(text).ok().filter(|it| it.get().starts_with('{'));
    format.ok_or_else(|| {
        Problem::malformed("the query parameter \"format\" is not a JSON object").with_hint(
            "Send the format of values as JSON, for example {\"decimal\": \",\", \"date\": \"DD.MM.YYYY\"}.",
        )
    })
}
