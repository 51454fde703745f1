//! Reads the response to an import line by line.

use serde::Deserialize;

use super::command_line::quoted;
use keyed_proxy::import::preview::Preview;

/// A line of the response: one of these members, or the report, which has none of them.
#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) file: Option<Header>,
    pub(super) progress: Option<Counts>,
    pub(super) waits_for: Option<Importer>,
    #[serde(rename = "refused")]
    pub(super) rejected: Option<RejectedRow>,
    pub(super) problem: Option<serde_json::Value>,
    #[serde(flatten)]
    pub(super) report: Counts,
}

/// The import that has locked the template.
#[derive(Deserialize)]
pub(super) struct Importer {
    role: String,
    since: Option<String>,
}

impl Importer {
    pub(super) fn to_text(&self) -> String {
        let since = self.since.as_ref().map(|since| format!(", which has run since {since}"));
        format!("Waiting for the import of another file by {}{}", self.role, since.unwrap_or_default())
    }
}

#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) header: Vec<String>,
    pub(super) delimiter: char,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) rows: Option<u64>,
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) unchanged: u64,
    pub(super) failed: u64,
    /// The number of deleted records, with mode=mirror.
    pub(super) deleted: Option<u64>,
    pub(super) deletion: Option<Deletion>,
    /// The bytes of the file read so far.
    pub(super) bytes: u64,
    pub(super) suggested_format: Option<serde_json::Value>,
    pub(super) warnings: Vec<Warning>,
    pub(super) preview: Option<Preview>,
}

/// The records that mode=mirror compared with the file.
#[derive(Default, Deserialize)]
pub(super) struct Deletion {
    matching: u64,
    keys: Vec<String>,
}

/// The maximum number of keys of deleted records on the terminal.
const MAX_KEYS: usize = 10;

impl Counts {
    /// The number of deleted records and of compared records.
    pub(super) fn deleted_text(&self) -> String {
        match (self.deleted, &self.deletion) {
            (Some(deleted), Some(deletion)) => format!(", deleted {deleted} of {}", deletion.matching),
            _ => String::new(),
        }
    }

    /// The first keys of the deleted records.
    fn deleted_keys(&self) -> Option<String> {
        let deletion = self.deletion.as_ref().filter(|deletion| !deletion.keys.is_empty())?;
        let mut keys: Vec<&str> = deletion.keys.iter().take(MAX_KEYS).map(String::as_str).collect();
        if self.deleted.unwrap_or(0) > keys.len() as u64 {
            keys.push("…");
        }
        Some(format!("Deleted: {}", keys.join(", ")))
    }

    /// The lines of the report other than the counts.
    pub(super) fn remarks(&self) -> Vec<String> {
        let warnings = self.warnings.iter().map(|warning| format!("Warning: {}", warning.to_text()));
        self.deleted_keys()
            .into_iter()
            .chain(warnings)
            .chain(self.suggested_format.as_ref().map(suggestion))
            .collect()
    }
}

#[derive(Deserialize)]
pub(super) struct Warning {
    pub(super) code: String,
    message: String,
    /// The first affected lines.
    lines: Vec<u64>,
}

impl Warning {
    pub(super) fn to_text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        match lines.as_slice() {
            [] => self.message.clone(),
            [line] => format!("{} (line {line})", self.message),
            lines => format!("{} (lines {})", self.message, lines.join(", ")),
        }
    }
}

/// The option `--format`, quoted for a shell.
fn suggestion(format: &serde_json::Value) -> String {
    format!(
        "This format matches the cells that were rejected without one: --format {}",
        quoted(&format.to_string())
    )
}

#[derive(Deserialize)]
pub(super) struct RejectedRow {
    pub(super) line: u64,
    pub(super) row: String,
    pub(super) errors: Vec<RowError>,
}

#[derive(Deserialize)]
pub(super) struct RowError {
    pub(super) column: Option<String>,
    pub(super) message: String,
}

impl RejectedRow {
    pub(super) fn reason(&self) -> String {
        let errors = self.errors.iter().map(|error| match &error.column {
            Some(column) => format!("{column}: {}", error.message),
            None => error.message.clone(),
        });
        format!("line {}: {}", self.line, errors.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_format_is_one_shell_word() {
        let format = serde_json::json!({"thousands": "'", "decimal": "."});
        assert_eq!(
            suggestion(&format),
            r#"This format matches the cells that were rejected without one: --format '{"decimal":".","thousands":"'\''"}'"#
        );
    }
}
