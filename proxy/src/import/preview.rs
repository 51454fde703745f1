//! The preview of a dry run: the columns of the file, and cells as each matching format reads them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Problem;

/// The preview in the report.
#[derive(Debug, Deserialize, Serialize)]
pub struct Preview {
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
    /// The matching formats, if some cells cannot be read without one.
    pub choices: Vec<Choice>,
}

/// A column of the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// The attribute, or another field of a record; `None` if the column is not imported.
    pub field: Option<String>,
    /// The type of the attribute.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// Alternative formats of some columns.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Choice {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The formats, each with examples.
    pub formats: Vec<Reading>,
}

/// A format and the values that it reads.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Reading {
    /// The format, as in the parameter of an import.
    pub format: Value,
    /// Examples.
    pub cells: Vec<Cell>,
}

/// A cell, with its text and the value that is read.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Cell {
    /// The name of its column.
    pub column: String,
    /// The text in the file.
    pub text: String,
    /// The value that the format reads.
    pub value: String,
}

/// The columns in the result of the database.
#[derive(Deserialize)]
struct Checked {
    columns: Vec<Option<(String, String)>>,
}

impl Preview {
    /// The columns of a file, from the result of the database.
    pub(crate) fn of(header: &[String], checked: &str) -> Result<Preview, Problem> {
        let checked: Checked = serde_json::from_str(checked)
            .map_err(|error| Problem::internal(format!("not the result of an import: {error}")))?;
        let columns = header.iter().zip(checked.columns).map(|(name, found)| {
            let (field, kind) = found.unzip();
            Column { name: name.clone(), field, kind }
        });
        Ok(Preview { columns: columns.collect(), choices: Vec::new() })
    }
}
