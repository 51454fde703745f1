//! Outcomes → JSON: `{created, updated, unchanged, waiting: [[row, name of its record]], errors: [{row, column, code, sqlstate, message}]}`.

use super::Outcome;
use crate::error::{Code, Error};
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
    let mut comma = "";
    for (row, outcome) in outcomes.iter().enumerate() {
        if let Outcome::Waits(name) = outcome {
            let name = name.map_or("null".to_owned(), |name| name.to_string());
            let _ = write!(out, "{comma}[{row},{name}]");
            comma = ",";
        }
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
    let mut write = |code: Code, column: Option<String>, message: &str| {
        let _ = write!(out, "{comma}{{\"row\":{row},\"column\":");
        match column {
            Some(column) => write_string(out, &column),
            None => out.push_str("null"),
        }
        let (name, state, _) = code.row();
        let _ = write!(out, ",\"code\":\"{name}\",\"sqlstate\":\"{}\",\"message\":", sqlstate(state as i32));
        write_string(out, message);
        out.push('}');
        *comma = ",";
    };
    let hinted = |message: &str| match &error.hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message.to_owned(),
    };
    if error.faults.is_empty() {
        return write(error.code, None, &hinted(&error.message));
    }
    for (position, fault) in error.faults.iter().enumerate() {
        let attribute = fault.pointer.strip_prefix("/attributes/");
        let place = attribute.or(fault.pointer.strip_prefix('/'));
        let field = place.map(|place| place.split('/').next().unwrap_or(place));
        let column = field.and_then(&column_of);
        // What is missing may have no column.
        let column = column.or_else(|| attribute.and(field).map(str::to_owned));
        // A hint is of the first fault.
        let message = if position == 0 { hinted(&fault.detail) } else { fault.detail.clone() };
        write(fault.code, column, &message);
    }
}

/// A SQLSTATE as its five characters, of six bits each, the first in the lowest.
fn sqlstate(packed: i32) -> String {
    (0..5).map(|place| char::from(b'0' + ((packed >> (6 * place)) & 0x3f) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_as_the_manual_writes_it() {
        for (code, state) in
            [(Code::QuotaExceeded, "53400"), (Code::NotFound, "P0002"), (Code::MalformedRequest, "22032")]
        {
            assert_eq!(sqlstate(code.row().1 as i32), state);
        }
    }

    #[test]
    fn an_attribute_without_a_column_is_named_by_its_slug() {
        let fault = |pointer| Outcome::Refused(Error::at(Code::RequiredAttribute, pointer, "is required"));
        let column_of = |field: &str| (field == "name").then(|| "Full name".to_owned());
        for (pointer, column) in [
            ("/attributes/name", "\"Full name\""),
            ("/attributes/size", "\"size\""),
            ("/attributes/size/0", "\"size\""),
            ("/id", "null"),
        ] {
            let report = to_json(&[fault(pointer)], column_of);
            assert!(report.contains(&format!("\"column\":{column},")), "{report}");
        }
    }
}
