//! Suggests formats that fit all cells of a column. Formats with the same readings count as one choice. If there are several
//! choices, the file is ambiguous.

use super::Format;
use super::examples::examples;
use crate::attribute_type::{AttributeType, Rules};
use crate::value::change::Change;
use crate::value::file_format::SEPARATOR;
use crate::value::zone::Utc;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};

/// Common null strings.
const NULLS: [&str; 12] =
    ["NULL", "null", "n/a", "N/A", "NA", "#N/A", "NaN", "None", "nil", "\\N", "-", "\u{2013}"];

/// Decimal and thousands separators.
const NUMBERS: [(char, Option<char>); 9] = [
    (',', None),
    (',', Some('.')),
    (',', Some(' ')),
    (',', Some('\'')),
    ('.', Some(',')),
    ('.', Some('\'')),
    ('.', Some(' ')),
    ('\u{b7}', None),
    ('\u{66b}', None),
];

const DATES: [&str; 15] = [
    "DD.MM.YYYY",
    "D.M.YYYY",
    "MM.DD.YYYY",
    "M.D.YYYY",
    "DD/MM/YYYY",
    "D/M/YYYY",
    "MM/DD/YYYY",
    "M/D/YYYY",
    "DD-MM-YYYY",
    "D-M-YYYY",
    "MM-DD-YYYY",
    "M-D-YYYY",
    "YYYY/MM/DD",
    "YYYY.MM.DD",
    "YYYYMMDD",
];

const TIMES: [&str; 7] = ["HH:mm", "HH:mm:ss", "H:mm", "H:mm:ss", "h:mm A", "h:mm:ss A", "HH:mm:ss.SSS"];

/// Words for true and for false.
const WORDS: [(&str, &str); 15] = [
    ("yes", "no"),
    ("y", "n"),
    ("1", "0"),
    ("ja", "nein"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("o", "n"),
    ("vrai", "faux"),
    ("si", "no"),
    ("s\u{ec}", "no"),
    ("vero", "falso"),
    ("verdadero", "falso"),
    ("t", "f"),
    ("on", "off"),
];

const SEPARATORS: [char; 4] = ['|', ',', '/', '\n'];

/// The suggestion for a column.
#[derive(Debug, Serialize)]
pub struct Forms {
    column: String,
    /// Columns of one kind share a format.
    kind: &'static str,
    /// Null strings in the column.
    nulls: BTreeSet<String>,
    /// The formats that fit, preferred first, each with a hash of its readings.
    fits: Vec<(Box<RawValue>, u64)>,
    /// Example cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    /// The readings of the examples by each format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readings: Vec<Vec<String>>,
}

impl Forms {
    /// The suggestion for a column of strings or keys: common null strings that would be read as text; `None` if there
    /// are none.
    pub fn of_texts<'a>(column: &str, cells: impl Iterator<Item = &'a str>) -> Option<Forms> {
        let nulls: BTreeSet<String> = cells.filter(|cell| NULLS.contains(cell)).map(str::to_owned).collect();
        (!nulls.is_empty()).then(|| Forms {
            column: column.to_owned(),
            kind: "text",
            nulls,
            fits: Vec::new(),
            examples: Vec::new(),
            readings: Vec::new(),
        })
    }
}

/// A candidate format.
struct Candidate {
    json: String,
    format: Format,
    hash: DefaultHasher,
}

impl Candidate {
    fn new(json: &serde_json::Value, zone: Option<&str>) -> Option<Candidate> {
        let mut own = json.clone();
        if let Some(members) = own.as_object_mut().filter(|members| members.contains_key("datetime")) {
            members.insert("time_zone".to_owned(), zone.unwrap_or("UTC").into());
        }
        let raw = serde_json::value::to_raw_value(&own).ok()?;
        let format = Format::parse(&raw, "").ok()?;
        let json = if zone.is_some() { own.to_string() } else { json.to_string() };
        Some(Candidate { json, format, hash: DefaultHasher::new() })
    }

    /// The reading of a cell, if the candidate fits.
    fn read<'c>(&self, kind: AttributeType, rules: &Rules, cell: &'c str) -> Option<Cow<'c, str>> {
        let read = self.format.read(kind, cell, &Utc, rules.pointer).ok()?;
        // A value that no record can get does not fit. Neither does a list that contains the default separator.
        let fits = matches!(kind.parse_cell(&read, rules), Ok(change) if !matches!(change, Change::Keep(..)));
        (fits && !(self.format.list.is_some() && cell.contains(SEPARATOR))).then_some(read)
    }

    /// Whether the candidate fits a cell. The reading is added to its hash.
    fn takes(&mut self, kind: AttributeType, rules: &Rules, cell: &str) -> bool {
        let Some(read) = self.read(kind, rules, cell) else { return false };
        self.hash.write(read.as_bytes());
        self.hash.write_u8(0xff);
        true
    }
}

/// The candidate formats of a type, with the default first.
fn candidates(kind: AttributeType, zone: Option<&str>) -> Vec<Candidate> {
    use serde_json::json;
    let mut formats = vec![json!({})];
    match kind {
        AttributeType::Number | AttributeType::Metric => {
            formats.extend(NUMBERS.map(|(decimal, thousands)| match thousands {
                Some(thousands) => json!({"decimal": decimal, "thousands": thousands}),
                None => json!({"decimal": decimal}),
            }));
        }
        AttributeType::Date => formats.extend(DATES.map(|date| json!({"date": date}))),
        AttributeType::DateTime => {
            let dates = DATES.into_iter().chain(["YYYY-MM-DD"]);
            let patterns = dates.flat_map(|date| TIMES.map(|time| format!("{date} {time}")));
            let iso =
                ["YYYY-MM-DDTHH:mm", "YYYY-MM-DDTHH:mm:ss", "YYYY-MM-DDTHH:mm:ss.SSS"].map(str::to_owned);
            formats.extend(patterns.chain(iso).map(|datetime| json!({"datetime": datetime})));
        }
        AttributeType::Boolean => {
            formats.extend(WORDS.map(|(yes, no)| json!({"true": [yes], "false": [no]})));
        }
        AttributeType::List => formats.extend(SEPARATORS.map(|list| json!({"list": list}))),
        AttributeType::String | AttributeType::Reference => {}
    }
    formats.iter().filter_map(|json| Candidate::new(json, zone)).collect()
}

/// Suggests formats for a column; `None` for a type without formats. `zone` is the time zone of times without an offset, if it
/// is known; `max` is the maximum number of examples.
pub fn forms<'a>(
    column: &str,
    kind: AttributeType,
    rules: &Rules,
    zone: Option<&str>,
    max: usize,
    cells: impl Iterator<Item = &'a str> + Clone,
) -> Option<Forms> {
    let mut left = candidates(kind, zone);
    if left.len() == 1 {
        return None;
    }
    let is_null = |cell: &str| kind != AttributeType::List && NULLS.contains(&cell);
    let cells = cells.filter(|cell| !cell.is_empty());
    let nulls = cells.clone().filter(|cell| is_null(cell)).map(str::to_owned).collect();
    let cells = cells.filter(|cell| !is_null(cell));
    for cell in cells.clone() {
        left.retain_mut(|candidate| candidate.takes(kind, rules, cell));
    }
    let name = match kind {
        AttributeType::Metric => AttributeType::Number.name(),
        kind => kind.name(),
    };
    let different: BTreeSet<u64> = left.iter().map(|candidate| candidate.hash.finish()).collect();
    let read = |at: usize, cell| left[at].read(kind, rules, cell);
    let examples = if max > 0 { examples(left.len(), different.len(), max, cells, read) } else { Vec::new() };
    let (mut fits, mut readings) = (Vec::new(), Vec::new());
    for candidate in left {
        if max > 0 {
            let values = examples.iter().filter_map(|cell| candidate.read(kind, rules, cell));
            readings.push(values.map(Cow::into_owned).collect());
        }
        let Ok(format) = RawValue::from_string(candidate.json) else { continue };
        fits.push((format, candidate.hash.finish()));
    }
    let examples = examples.into_iter().map(str::to_owned).collect();
    Some(Forms { column: column.to_owned(), kind: name, nulls, fits, examples, readings })
}
