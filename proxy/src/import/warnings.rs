//! Warnings about possibly unintended effects, with the first affected lines.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::file::chunk::Chunk;

/// The maximum number of lines in a warning.
const MAX_LINES: usize = 10;
/// The maximum number of records that are stored to detect repeated rows. They use at most 19 MB.
const MAX_RECORDS: usize = 1_000_000;

/// A warning of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Warning {
    code: &'static str,
    message: String,
    /// The first affected lines.
    lines: Vec<u64>,
}

/// The observations of the database about the rows of a chunk.
#[derive(Deserialize)]
pub(crate) struct Notes {
    /// The number of records created without a key, and their first rows.
    keyless: u64,
    #[serde(default)]
    keyless_rows: Vec<usize>,
    /// The rows that created a record whose key contains invisible characters.
    odd: Vec<usize>,
    /// The rows whose key looks like a number that a spreadsheet program has rounded.
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
    /// Whether one of them cannot have a thousands separator.
    is_plain: bool,
    grouped: u64,
    example: String,
    rows: Vec<usize>,
}

/// A count, and the first lines.
#[derive(Default)]
struct Occurrences {
    count: u64,
    lines: BTreeSet<u64>,
}

impl Occurrences {
    fn add(&mut self, count: u64, lines: impl Iterator<Item = u64>) {
        self.count += count;
        for line in lines {
            self.lines.insert(line);
            if self.lines.len() > MAX_LINES {
                self.lines.pop_last();
            }
        }
    }
}

/// A column in which all numbers so far may have thousands separators; `None` if others were found.
type Grouped = Option<(Occurrences, String)>;

/// The collected observations about a file.
pub(crate) struct Warnings {
    max_records: usize,
    records: HashSet<u64>,
    /// Whether there were more records than the limit.
    is_over: bool,
    repeated: Occurrences,
    scientific: Occurrences,
    keyless: Occurrences,
    odd: Occurrences,
    columns: BTreeMap<String, Grouped>,
}

impl Default for Warnings {
    fn default() -> Warnings {
        Warnings {
            max_records: MAX_RECORDS,
            records: HashSet::new(),
            is_over: false,
            repeated: Occurrences::default(),
            scientific: Occurrences::default(),
            keyless: Occurrences::default(),
            odd: Occurrences::default(),
            columns: BTreeMap::new(),
        }
    }
}

impl Warnings {
    /// Adds the observations about a chunk. `is_again`: the rows were deferred before.
    pub(crate) fn add(&mut self, chunk: &Chunk, notes: Notes, is_again: bool) {
        let line = |row: &usize| chunk.rows.get(*row).map(|row| row.line);
        self.keyless.add(notes.keyless, notes.keyless_rows.iter().filter_map(line));
        self.odd.add(notes.odd.len() as u64, notes.odd.iter().filter_map(line));
        if is_again {
            return;
        }
        self.scientific.add(notes.scientific.len() as u64, notes.scientific.iter().filter_map(line));
        let hashes = STANDARD.decode(notes.records).unwrap_or_default();
        for (row, hash) in chunk.rows.iter().zip(hashes.as_chunks().0) {
            self.add_record(row.line, u64::from_le_bytes(*hash));
        }
        for numbers in notes.numbers {
            let Numbers { column, is_plain, grouped, example, rows } = numbers;
            let known = self.columns.entry(column).or_insert_with(|| Some((Occurrences::default(), example)));
            if is_plain {
                *known = None;
            }
            if let Some((noted, _)) = known {
                noted.add(grouped, rows.iter().filter_map(line));
            }
        }
    }

    fn add_record(&mut self, line: u64, hash: u64) {
        // A row without a key or id always creates a record.
        if hash == 0 {
            return;
        }
        if self.records.contains(&hash) {
            self.repeated.add(1, std::iter::once(line));
        } else if self.records.len() < self.max_records {
            self.records.insert(hash);
        } else {
            self.is_over = true;
        }
    }

    /// Removes the warnings about created records after a rollback.
    pub(crate) fn without_effect(&mut self) {
        (self.keyless, self.odd) = (Occurrences::default(), Occurrences::default());
    }

    /// All warnings.
    pub(crate) fn list(self) -> Vec<Warning> {
        let mut list = Vec::new();
        let mut warn = |code, noted: Occurrences, message: String| {
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
            "rows that repeat a record after the first {} of the file are not detected",
            self.max_records
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
            let message =
                format!("{keys}, such as 4.00638E+12: give the column the text format in the spreadsheet");
            warn("scientific_key", self.scientific, message);
        }
        for (column, grouped) in self.columns {
            let Some((noted, example)) = grouped else { continue };
            let message = format!(
                "all numbers of column {column} may have thousands separators, but are read with a decimal point: {example} \
                is not {}",
                example.replace('.', "")
            );
            warn("grouped_number", noted, message);
        }
        list
    }
}

impl Warning {
    /// The warning that an import would delete more than max_deleted_share.
    pub(crate) fn of_share(message: String) -> Warning {
        Warning { code: "max_deleted_share", message, lines: Vec::new() }
    }

    /// The warning about an ambiguous format.
    pub(crate) fn of_format(message: String) -> Warning {
        Warning { code: "ambiguous_format", message, lines: Vec::new() }
    }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record was".to_owned() } else { format!("{count} records were") }
}

#[cfg(test)]
mod tests;
