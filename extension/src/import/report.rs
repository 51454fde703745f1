//! Outcomes → JSON: `{created, updated, unchanged, keyless, keyless_rows, odd, scientific, records, numbers, forms,
//! columns, waiting: [[row, its record, [its texts by which others reference it], [records that it references]]], errors:
//! [{row, column, code, sqlstate, message}]}`.

use super::numbers::Numbers;
use super::{Outcome, Row};
use crate::error::{Code, Error};
use crate::format::suggest::Forms;
use crate::json_write::to_json as json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyed_write_order::rows::RecordHash;
use serde::Serialize;

/// The maximum number of rows that a warning names.
const MAX_ROWS: usize = 10;

/// Rows with warnings.
#[derive(Default)]
pub struct Notes {
    /// Rows without key and id: a second import creates their records again.
    keyless: Vec<usize>,
    /// Keys with invisible characters, such as a no-break space.
    odd: Vec<usize>,
    /// Keys that a spreadsheet has rounded.
    scientific: Vec<usize>,
    /// The record hash of each row, 0 for none. The proxy uses it to find several rows of one
    /// record.
    records: Vec<RecordHash>,
    /// Columns of numbers.
    numbers: Vec<Numbers>,
    /// The formats that fit columns.
    forms: Vec<Forms>,
    /// The field and the type of each imported column.
    columns: Vec<Option<(String, &'static str)>>,
}

impl Notes {
    /// Examines the rows of a chunk of `count`, with keys of this prefix.
    pub fn of(
        rows: &[Row],
        count: usize,
        key_prefix: &str,
        numbers: Vec<Numbers>,
        forms: Vec<Forms>,
    ) -> Notes {
        let places = |requested: &dyn Fn(&Row) -> bool| {
            rows.iter().filter(|row| requested(row)).map(|row| row.index).collect()
        };
        let mut records = vec![0; count];
        for row in rows {
            records[row.index] = row.record_hash().unwrap_or_default();
        }
        let own = |key: &str| is_rounded(key.strip_prefix(key_prefix).unwrap_or(key));
        Notes {
            keyless: places(&|row| row.key.is_none() && row.id.is_none()),
            odd: places(&|row| row.key.as_ref().is_some_and(|key| key.contains(is_invisible))),
            scientific: places(&|row| row.key.as_deref().is_some_and(own)),
            records,
            numbers,
            forms,
            columns: Vec::new(),
        }
    }
}

impl Notes {
    /// Adds the columns.
    pub fn show_columns(&mut self, columns: impl Iterator<Item = Option<(String, &'static str)>>) {
        self.columns.extend(columns);
    }

    /// Adds rows whose key is a number with more digits than a spreadsheet preserves.
    pub fn add_rounded(&mut self, rows: impl Iterator<Item = usize>) {
        self.scientific.extend(rows);
    }
}

/// Whether a key is a number as spreadsheets show long ones: `4.00638E+12`.
fn is_rounded(key: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((mantissa, exponent)) = key.split_once(['E', 'e']) else { return false };
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let decimals = match mantissa.as_bytes() {
        [b'0'..=b'9'] => true,
        [b'0'..=b'9', b'.' | b',', _, ..] => is_digits(&mantissa[2..]),
        _ => false,
    };
    let exponent = exponent.strip_prefix(['+', '-']);
    decimals && exponent.is_some_and(|digits| matches!(digits.len(), 2 | 3) && is_digits(digits))
}

/// Whether a character is invisible or looks like a space, but is not a space.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{ad}' | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{2064}'
            | '\u{3000}' | '\u{feff}'
    )
}

/// A waiting row, its record, the strings by which others reference it, and the records that it references.
type WaitingRow<'a> = (usize, Option<RecordHash>, &'a [RecordHash], &'a [RecordHash]);

#[derive(Serialize)]
struct Report<'a> {
    created: usize,
    updated: usize,
    unchanged: usize,
    keyless: usize,
    keyless_rows: Vec<usize>,
    odd: Vec<usize>,
    scientific: &'a [usize],
    records: String,
    numbers: &'a [Numbers],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    forms: &'a [Forms],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    columns: &'a [Option<(String, &'static str)>],
    waiting: Vec<WaitingRow<'a>>,
    errors: Vec<Violation>,
}

/// An error of a row.
#[derive(Serialize)]
struct Violation {
    row: usize,
    column: Option<String>,
    code: &'static str,
    sqlstate: &'static str,
    message: String,
}

/// The report on a chunk. Rows are given by position. A row with several violations has several errors. `column_of` returns the
/// column of an attribute or standard field in the file.
pub fn to_json(outcomes: &[Outcome], notes: &Notes, column_of: impl Fn(&str) -> Option<String>) -> String {
    let count = |requested: fn(&Outcome) -> bool| outcomes.iter().filter(|it| requested(it)).count();
    let is_created = |row: &usize| matches!(outcomes.get(*row), Some(Outcome::Created(_)));
    let waiting = outcomes.iter().enumerate().filter_map(|(row, outcome)| match outcome {
        Outcome::Waits { record, texts, targets } => {
            Some((row, *record, texts.as_slice(), targets.as_slice()))
        }
        _ => None,
    });
    let rejected = outcomes.iter().enumerate().filter_map(|(row, outcome)| match outcome {
        Outcome::Rejected(error) => Some((row, error)),
        _ => None,
    });
    json(&Report {
        created: count(|it| matches!(it, Outcome::Created(_))),
        updated: count(|it| matches!(it, Outcome::Updated(_))),
        unchanged: count(|it| matches!(it, Outcome::Unchanged(_))),
        keyless: notes.keyless.iter().filter(|row| is_created(row)).count(),
        keyless_rows: notes.keyless.iter().copied().filter(is_created).take(MAX_ROWS).collect(),
        odd: notes.odd.iter().copied().filter(is_created).collect(),
        scientific: &notes.scientific,
        records: STANDARD
            .encode(notes.records.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<_>>()),
        numbers: &notes.numbers,
        forms: &notes.forms,
        columns: &notes.columns,
        waiting: waiting.collect(),
        errors: rejected.flat_map(|(row, error)| violations(row, error, &column_of)).collect(),
    })
}

fn violations(row: usize, error: &Error, column_of: &impl Fn(&str) -> Option<String>) -> Vec<Violation> {
    let violation = |code: Code, column: Option<String>, message: String| {
        let sqlstate = code.sqlstate().unwrap_or_default();
        Violation { row, column, code: code.name(), sqlstate, message }
    };
    let hinted = |message: &str, hint: Option<&String>| match hint {
        Some(hint) if hint.starts_with(char::is_uppercase) => {
            format!("{}. {hint}", message.trim_end_matches('.'))
        }
        Some(hint) => format!("{message}; {hint}"),
        None => message.to_owned(),
    };
    if error.violations.is_empty() {
        return vec![violation(error.code, None, hinted(&error.message, error.hint.as_ref()))];
    }
    let located = error.violations.iter().enumerate().map(|(position, it)| {
        let attribute = it.pointer.strip_prefix("/attributes/");
        let place = attribute.or(it.pointer.strip_prefix('/'));
        let field = place.map(|place| place.split('/').next().unwrap_or(place));
        let column = field.and_then(column_of);
        // The attribute of a missing value may have no column.
        let column = column.or_else(|| attribute.and(field).map(str::to_owned));
        // An error that was raised and caught has only one hint, that of its first violation.
        let hint = it.hint.as_ref().or(error.hint.as_ref().filter(|_| position == 0));
        violation(it.code, column, hinted(&it.detail, hint))
    });
    located.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_in_a_key_are_detected() {
        for key in ["a\u{a0}b", "a\u{200b}", "\u{feff}a", "a\u{202f}1", "a\u{3000}b"] {
            assert!(key.contains(is_invisible), "{key:?}");
        }
        for key in ["a b", "erp:1/2", "Zürich", "鍵", "🔑", "a\u{301}"] {
            assert!(!key.contains(is_invisible), "{key:?}");
        }
    }

    #[test]
    fn key_that_a_spreadsheet_has_rounded_is_detected() {
        for key in ["4.00638E+12", "4E+12", "-1.5E-07", "4,00638E+12", "1e+300", "4.00638e+12"] {
            assert!(is_rounded(key), "{key:?}");
        }
        for key in [
            "",
            "E",
            "4006381333931",
            "1E5",
            "2E10",
            "12.5E+12",
            "4.E+12",
            "E+12",
            "4.0x8E+12",
            "4E+1234",
            "é.1E+12",
        ] {
            assert!(!is_rounded(key), "{key:?}");
        }
    }

    #[test]
    fn attribute_without_a_column_is_named_by_its_slug() {
        let violation =
            |pointer| Outcome::Rejected(Error::at(Code::RequiredAttribute, pointer, "is required"));
        let column_of = |field: &str| (field == "name").then(|| "Full name".to_owned());
        for (pointer, column) in [
            ("/attributes/name", "\"Full name\""),
            ("/attributes/size", "\"size\""),
            ("/attributes/size/0", "\"size\""),
            ("/id", "null"),
        ] {
            let report = to_json(&[violation(pointer)], &Notes::default(), column_of);
            assert!(report.contains(&format!("\"column\":{column},")), "{report}");
        }
    }

    #[test]
    fn each_violation_of_a_row_has_its_own_hint() {
        let violation = |slug: &str| Error::at(Code::InvalidValue, format!("/attributes/{slug}"), "is wrong");
        let errors = vec![violation("a").hint("write A"), violation("b"), violation("c").hint("Write C.")];
        let error = Error::join(errors).expect("an error");
        let report = to_json(&[Outcome::Rejected(error)], &Notes::default(), |_| None);
        let messages: Vec<&str> =
            report.split("\"message\":\"").skip(1).filter_map(|it| it.split('"').next()).collect();
        assert_eq!(messages, ["is wrong; write A", "is wrong", "is wrong. Write C."]);
    }

    #[test]
    fn report_names_rows_by_position() {
        let error =
            Error::at(Code::InvalidValue, "/attributes/size", "must be a number").hint("Write digits.");
        let outcomes = [
            Outcome::Created(uuid::Uuid::nil()),
            Outcome::Waits { record: None, texts: vec![6], targets: vec![7, 8] },
            Outcome::Rejected(error),
        ];
        assert_eq!(
            to_json(&outcomes, &Notes::default(), |_| None),
            r#"{"created":1,"updated":0,"unchanged":0,"keyless":0,"keyless_rows":[],"odd":[],"scientific":[],"#
                .to_owned()
                + r#""records":"","numbers":[],"waiting":[[1,null,[6],[7,8]]],"#
                + r#""errors":[{"row":2,"column":"size","code":"invalid_value","sqlstate":"22023","#
                + r#""message":"must be a number. Write digits."}]}"#
        );
    }
}
