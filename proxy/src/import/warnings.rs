//! Effects of a file that may be unintended, with the first lines of each.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::file::portion::Portion;

/// The most lines of a warning.
const MOST_LINES: usize = 10;
/// The most records that are remembered to find later rows of them. They take at most 19 MB.
const MOST_RECORDS: usize = 1_000_000;

/// A warning of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Warning {
    code: &'static str,
    message: String,
    /// The first lines.
    lines: Vec<u64>,
}

/// What the database notes of the rows of a portion.
#[derive(Deserialize)]
pub(crate) struct Notes {
    /// The number of records created without a key, and the first rows of them.
    keyless: u64,
    #[serde(default)]
    keyless_rows: Vec<usize>,
    /// The rows that created a record whose key has invisible characters.
    odd: Vec<usize>,
    /// The rows with a key that a spreadsheet has rounded.
    #[serde(default)]
    scientific: Vec<usize>,
    /// The hashes of the records of all rows, eight bytes each, in base64.
    #[serde(default)]
    records: String,
    #[serde(default)]
    numbers: Vec<Numbers>,
}

/// The numbers of a column.
#[derive(Deserialize)]
struct Numbers {
    column: String,
    /// Whether one of them can be no groups of three digits.
    is_plain: bool,
    grouped: u64,
    example: String,
    rows: Vec<usize>,
}

/// How often, and the first lines.
#[derive(Default)]
struct Noted {
    count: u64,
    lines: BTreeSet<u64>,
}

impl Noted {
    fn add(&mut self, count: u64, lines: impl Iterator<Item = u64>) {
        self.count += count;
        for line in lines {
            self.lines.insert(line);
            if self.lines.len() > MOST_LINES {
                self.lines.pop_last();
            }
        }
    }
}

/// A column of which all numbers so far may have groups of three digits; `None` of one that has others.
type Grouped = Option<(Noted, String)>;

/// What was noted of a file.
pub(crate) struct Warnings {
    most_records: usize,
    records: HashSet<u64>,
    /// Whether there were more.
    is_over: bool,
    repeated: Noted,
    scientific: Noted,
    keyless: Noted,
    odd: Noted,
    columns: BTreeMap<String, Grouped>,
}

impl Default for Warnings {
    fn default() -> Warnings {
        Warnings {
            most_records: MOST_RECORDS,
            records: HashSet::new(),
            is_over: false,
            repeated: Noted::default(),
            scientific: Noted::default(),
            keyless: Noted::default(),
            odd: Noted::default(),
            columns: BTreeMap::new(),
        }
    }
}

impl Warnings {
    /// Adds what was noted of a portion. `is_again` says that its rows were sent before, and waited for others.
    pub(crate) fn add(&mut self, portion: &Portion, notes: Notes, is_again: bool) {
        let line = |row: &usize| portion.rows.get(*row).map(|row| row.line);
        self.keyless.add(notes.keyless, notes.keyless_rows.iter().filter_map(line));
        self.odd.add(notes.odd.len() as u64, notes.odd.iter().filter_map(line));
        if is_again {
            return;
        }
        self.scientific.add(notes.scientific.len() as u64, notes.scientific.iter().filter_map(line));
        let hashes = STANDARD.decode(notes.records).unwrap_or_default();
        for (row, hash) in portion.rows.iter().zip(hashes.as_chunks().0) {
            self.add_record(row.line, u64::from_le_bytes(*hash));
        }
        for numbers in notes.numbers {
            let Numbers { column, is_plain, grouped, example, rows } = numbers;
            let known = self.columns.entry(column).or_insert_with(|| Some((Noted::default(), example)));
            if is_plain {
                *known = None;
            }
            if let Some((noted, _)) = known {
                noted.add(grouped, rows.iter().filter_map(line));
            }
        }
    }

    fn add_record(&mut self, line: u64, hash: u64) {
        // A row without a key or an id creates a record of its own.
        if hash == 0 {
            return;
        }
        if self.records.contains(&hash) {
            self.repeated.add(1, std::iter::once(line));
        } else if self.records.len() < self.most_records {
            self.records.insert(hash);
        } else {
            self.is_over = true;
        }
    }

    /// Forgets what was noted of records that were created, because none was.
    pub(crate) fn without_effect(&mut self) {
        (self.keyless, self.odd) = (Noted::default(), Noted::default());
    }

    /// All warnings.
    pub(crate) fn list(self) -> Vec<Warning> {
        let mut list = Vec::new();
        let mut warn = |code, noted: Noted, message: String| {
            list.push(Warning { code, message, lines: noted.lines.into_iter().collect() });
        };
        if self.keyless.count > 0 {
            let message = format!(
                "{} created without an external key: sending the rows again creates new records",
                records(self.keyless.count)
            );
            warn("missing_key", self.keyless, message);
        }
        if self.odd.count > 0 {
            let message = format!(
                "{} created with a key that contains a no-break space or another invisible character: it differs from the \
                same key without that character",
                records(self.odd.count)
            );
            warn("invisible_character", self.odd, message);
        }
        let others = format!(
            "rows that repeat a record after the first {} of the file are not looked for",
            self.most_records
        );
        match self.repeated.count {
            0 if self.is_over => warn("repeated_key", self.repeated, others),
            0 => {}
            count => {
                let rows = if count == 1 { "1 row has".to_owned() } else { format!("{count} rows have") };
                let further = if self.is_over { format!("; {others}") } else { String::new() };
                let message =
                    format!("{rows} the key or id of an earlier row, and changes its record{further}");
                warn("repeated_key", self.repeated, message);
            }
        }
        if self.scientific.count > 0 {
            let keys = match self.scientific.count {
                1 => "1 key looks like a number that a spreadsheet has rounded".to_owned(),
                count => format!("{count} keys look like numbers that a spreadsheet has rounded"),
            };
            let message = format!("{keys}, such as 4.00638E+12: give the column the format of text there");
            warn("scientific_key", self.scientific, message);
        }
        for (column, grouped) in self.columns {
            let Some((noted, example)) = grouped else { continue };
            let message = format!(
                "all numbers of column {column} may have groups of three digits, and are read with a decimal point: {example} \
                is not {}",
                example.replace('.', "")
            );
            warn("grouped_number", noted, message);
        }
        list
    }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record was".to_owned() } else { format!("{count} records were") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The warnings of portions of rows, of which each has a record; 0 is none.
    fn warnings(mut warnings: Warnings, portions: &[&[u64]], more: &serde_json::Value) -> Vec<Warning> {
        let mut line = 1;
        for records in portions {
            let mut portion = Portion::default();
            for _ in *records {
                line += 1;
                portion.push(line, "x");
            }
            let records = STANDARD.encode(records.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
            let mut notes = json!({"keyless": 0, "odd": [], "records": records});
            notes.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            warnings.add(&portion, serde_json::from_value(notes).expect("notes"), false);
        }
        warnings.list()
    }

    fn codes(warnings: &[Warning]) -> Vec<(&str, &[u64])> {
        warnings.iter().map(|it| (it.code, it.lines.as_slice())).collect()
    }

    #[test]
    fn rows_of_an_earlier_record_are_named_also_in_another_portion() {
        let list = warnings(Warnings::default(), &[&[1, 2, 1, 0], &[0, 2, 3]], &json!({}));
        assert_eq!(codes(&list), [("repeated_key", &[4, 7][..])]);
        assert!(list[0].message.starts_with("2 rows have the key or id of an earlier row"), "{list:?}");
        let many = [7; 50];
        let list = warnings(Warnings::default(), &[&many], &json!({}));
        assert_eq!(list[0].lines, (3..13).collect::<Vec<_>>());
        assert!(list[0].message.starts_with("49 rows"), "{list:?}");
    }

    #[test]
    fn a_row_that_waited_is_no_repetition_of_itself() {
        let mut portion = Portion::default();
        portion.push(2, "x");
        let notes = || {
            let records = STANDARD.encode(5_u64.to_le_bytes());
            serde_json::from_value(json!({"keyless": 0, "odd": [], "records": records})).expect("notes")
        };
        let mut warnings = Warnings::default();
        warnings.add(&portion, notes(), false);
        warnings.add(&portion, notes(), true);
        assert_eq!(warnings.list(), []);
    }

    #[test]
    fn more_records_than_are_remembered_are_reported() {
        let few = || Warnings { most_records: 2, ..Warnings::default() };
        assert_eq!(warnings(few(), &[&[1, 2]], &json!({})), []);
        let list = warnings(few(), &[&[1, 2, 3, 3]], &json!({}));
        assert_eq!(codes(&list), [("repeated_key", &[][..])]);
        assert_eq!(
            list[0].message,
            "rows that repeat a record after the first 2 of the file are not looked for"
        );
        let list = warnings(few(), &[&[1, 2, 3, 3, 1]], &json!({}));
        assert_eq!(codes(&list), [("repeated_key", &[6][..])]);
        assert!(list[0].message.contains("; rows that repeat a record after the first 2"), "{list:?}");
    }

    #[test]
    fn a_column_is_named_unless_any_portion_has_another_number() {
        let numbers = |is_plain: bool| {
            let grouped = u64::from(!is_plain);
            json!({"numbers": [{"column": "price", "is_plain": is_plain, "grouped": grouped, "example": "1.234", "rows": [0]}]})
        };
        let list = warnings(Warnings::default(), &[&[1], &[2]], &numbers(false));
        assert_eq!(codes(&list), [("grouped_number", &[2, 3][..])]);
        assert!(list[0].message.ends_with("1.234 is not 1234"), "{list:?}");
        assert_eq!(warnings(Warnings::default(), &[&[1], &[2]], &numbers(true)), []);
        for order in [[true, false], [false, true]] {
            let mut all = Warnings::default();
            for is_plain in order {
                let mut notes = numbers(is_plain);
                notes["keyless"] = json!(0);
                notes["odd"] = json!([]);
                all.add(&Portion::default(), serde_json::from_value(notes).expect("notes"), false);
            }
            assert_eq!(all.list(), []);
        }
    }
}
