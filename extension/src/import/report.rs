//! Outcomes → JSON: `{created, updated, unchanged, waiting: [row], errors: [{row, column, code, message}]}`.

use super::Outcome;
use crate::error::Error;
use crate::json::write_string;
use std::fmt::Write as _;

/// The report on a portion. Rows are told by their places; a row with several faults has several errors.
/// `column_of` is what the file calls the attribute of a slug, or a standard field.
pub fn to_json(outcomes: &[Outcome], column_of: impl Fn(&str) -> Option<String>) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|it| wanted(it)).count();
    let mut out = format!(
        "{{\"created\":{},\"updated\":{},\"unchanged\":{},\"waiting\":[",
        count(|it| matches!(it, Outcome::Created)),
        count(|it| matches!(it, Outcome::Updated)),
        count(|it| matches!(it, Outcome::Unchanged)),
    );
    let waiting = outcomes.iter().enumerate().filter(|(_, it)| matches!(it, Outcome::Waits));
    for (position, (row, _)) in waiting.enumerate() {
        let comma = if position > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{row}");
    }
    out.push_str("],\"errors\":[");
    let mut comma = "";
    for (row, outcome) in outcomes.iter().enumerate() {
        if let Outcome::Refused(error) = outcome {
            write_error(&mut out, &mut comma, row, error, &column_of);
        }
    }
    out.push_str("]}");
    out
}

fn write_error(
    out: &mut String,
    comma: &mut &str,
    row: usize,
    error: &Error,
    column_of: &impl Fn(&str) -> Option<String>,
) {
    let mut write = |code: &str, column: Option<String>, message: &str| {
        let _ = write!(out, "{comma}{{\"row\":{row},\"column\":");
        match column {
            Some(column) => write_string(out, &column),
            None => out.push_str("null"),
        }
        let _ = write!(out, ",\"code\":\"{code}\",\"message\":");
        write_string(out, message);
        out.push('}');
        *comma = ",";
    };
    let hinted = |message: &str| match &error.hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message.to_owned(),
    };
    if error.faults.is_empty() {
        return write(error.code.row().0, None, &hinted(&error.message));
    }
    for (position, fault) in error.faults.iter().enumerate() {
        let place = fault.pointer.strip_prefix("/attributes/").or(fault.pointer.strip_prefix('/'));
        let column = place.and_then(|place| column_of(place.split('/').next().unwrap_or(place)));
        // A hint is of the first fault.
        let message = if position == 0 { hinted(&fault.detail) } else { fault.detail.clone() };
        write(fault.code.row().0, column, &message);
    }
}
