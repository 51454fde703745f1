//! Outcomes → JSON: `{created, updated, unchanged, keyless, odd, waiting: [[row, name of its record, [names of what it refers to]]], errors: [{row, column, code, sqlstate, message}]}`.

use super::{Outcome, Row};
use crate::error::{Code, Error};
use crate::json::write_string;
use std::fmt::Write as _;

/// Rows whose keys a person may want to know of.
#[derive(Default)]
pub struct Keys {
    /// They have none, and name no record: sent again they make another.
    none: Vec<usize>,
    /// Keys with invisible characters, such as a no-break space.
    odd: Vec<usize>,
}

impl Keys {
    /// Looks at the rows of a portion.
    pub fn of(rows: &[Row]) -> Keys {
        let places =
            |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).map(|row| row.index).collect();
        Keys {
            none: places(|row| row.key.is_none() && row.id.is_none()),
            odd: places(|row| row.key.as_ref().is_some_and(|key| key.contains(is_unseen))),
        }
    }
}

/// A character that looks like a space, or like nothing, and is neither.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{ad}' | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{2064}'
            | '\u{3000}' | '\u{feff}'
    )
}

/// The report on a portion. Rows are told by their places; a row with several faults has several errors.
/// `column_of` is what the file calls the attribute of a slug, or a standard field.
pub fn to_json(outcomes: &[Outcome], keys: &Keys, column_of: impl Fn(&str) -> Option<String>) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|it| wanted(it)).count();
    let made = |row: &usize| matches!(outcomes.get(*row), Some(Outcome::Created));
    let odd: Vec<String> = keys.odd.iter().copied().filter(made).map(|row| row.to_string()).collect();
    let mut out = format!(
        "{{\"created\":{},\"updated\":{},\"unchanged\":{},\"keyless\":{},\"odd\":[{}],\"waiting\":[",
        count(|it| matches!(it, Outcome::Created)),
        count(|it| matches!(it, Outcome::Updated)),
        count(|it| matches!(it, Outcome::Unchanged)),
        keys.none.iter().copied().filter(made).count(),
        odd.join(","),
    );
    let mut comma = "";
    for (row, outcome) in outcomes.iter().enumerate() {
        if let Outcome::Waits { name, targets } = outcome {
            let name = name.map_or("null".to_owned(), |name| name.to_string());
            let _ = write!(out, "{comma}[{row},{name},{targets:?}]");
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
    fn what_nobody_sees_in_a_key_is_told_from_what_is_plain() {
        for key in ["a\u{a0}b", "a\u{200b}", "\u{feff}a", "a\u{202f}1", "a\u{3000}b"] {
            assert!(key.contains(is_unseen), "{key:?}");
        }
        for key in ["a b", "erp:1/2", "Zürich", "鍵", "🔑", "a\u{301}"] {
            assert!(!key.contains(is_unseen), "{key:?}");
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
            let report = to_json(&[fault(pointer)], &Keys::default(), column_of);
            assert!(report.contains(&format!("\"column\":{column},")), "{report}");
        }
    }
}
