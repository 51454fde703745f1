//! What a dry run shows of a file, if it is asked: what its columns are, and cells as the formats that fit read them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Problem;

/// The preview, a part of the report.
#[derive(Debug, Deserialize, Serialize)]
pub struct Preview {
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
    /// Where some cells are not read without a format: the formats that fit.
    pub choices: Vec<Choice>,
}

/// A column of the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct Column {
    /// Its header.
    pub name: String,
    /// The attribute, or another field of a record; none if the column is not imported.
    pub field: Option<String>,
    /// The type of the attribute.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// The formats of some columns, of which one can be meant.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Choice {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The formats, each with examples.
    pub formats: Vec<Reading>,
}

/// What a format reads.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Reading {
    /// The format, as an import takes it.
    pub format: Value,
    /// Examples.
    pub cells: Vec<Cell>,
}

/// A cell, as it is in the file and as it is read.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Cell {
    /// The name of its column.
    pub column: String,
    /// The text in the file.
    pub text: String,
    /// The value that the format reads.
    pub value: String,
}

/// What the database says of the columns.
#[derive(Deserialize)]
struct Checked {
    columns: Vec<Option<(String, String)>>,
}

impl Preview {
    /// The columns of a file, by the answer of the database.
    pub(crate) fn of(header: &[String], checked: &str) -> Result<Preview, Problem> {
        let checked: Checked = serde_json::from_str(checked)
            .map_err(|error| Problem::internal(format!("not the answer of an import: {error}")))?;
        let columns = header.iter().zip(checked.columns).map(|(name, found)| {
            let (field, kind) = found.unzip();
            Column { name: name.clone(), field, kind }
        });
        Ok(Preview { columns: columns.collect(), choices: Vec::new() })
    }
}
