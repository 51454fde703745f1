//! CSV → rows.

use super::cells::Cells;
use super::columns::Column;
use super::options::Options;
use super::{Outcome, Row};
use crate::error::{Code, Error, MOST_FAULTS};
use crate::record::changes::required;
use crate::template::Template;
use crate::value::change::{Change, Value};
use crate::value::embedding::Embedding;
use crate::value::key;
use csv::StringRecord;
use uuid::Uuid;

/// Takes a portion of a file apart: at most this many whole rows, without the header.
pub fn records(text: &str, delimiter: u8, most: usize) -> Result<Vec<StringRecord>, Error> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let unreadable =
        |error: csv::Error| Error::new(Code::MalformedRequest, format!("the CSV cannot be read: {error}"));
    reader.records().take(most).collect::<Result<Vec<_>, _>>().map_err(unreadable)
}

/// Reads each record as a row, or says why it cannot be one.
pub fn rows<'a>(
    template: &Template,
    columns: &[Column],
    options: &Options,
    cells: &Cells,
    records: &'a [StringRecord],
) -> (Vec<Row<'a>>, Vec<(usize, Outcome)>) {
    let (mut rows, mut refused) = (Vec::with_capacity(records.len()), Vec::new());
    for (index, record) in records.iter().enumerate() {
        pgrx::check_for_interrupts!();
        match row(template, columns, options, cells, index, record) {
            Ok(row) => rows.push(row),
            Err(error) => refused.push((index, Outcome::Refused(error))),
        }
    }
    (rows, refused)
}

fn row<'a>(
    template: &Template,
    columns: &[Column],
    options: &Options,
    cells: &Cells,
    index: usize,
    record: &'a StringRecord,
) -> Result<Row<'a>, Error> {
    if !has_width(record, columns) {
        let message = format!("the row has {} cells, the header has {}", record.len(), columns.len());
        return Err(Error::new(Code::InvalidValue, message)
            .hint("put a cell that contains the delimiter, a quote or a line break in double quotes"));
    }
    let changes = Vec::with_capacity(columns.len());
    let mut row = Row { index, key: None, id: None, changes, embedding: Embedding::Absent, exists: false };
    let mut errors = Vec::new();
    let mut empty_key = false;
    for (position, (cell, column)) in record.iter().zip(columns).enumerate() {
        match column {
            Column::Ignored => {}
            Column::Unnamed if cell.is_empty() => {}
            Column::Unnamed => {
                let pointer = format!("/{}", position + 1);
                let message = format!("{cell:?} is in column {}, which has no name", position + 1);
                errors.push(
                    Error::at(Code::InvalidValue, pointer, message)
                        .hint("name the column in the first line, or empty its cells"),
                );
            }
            Column::Key if cells.is_null(cell) => empty_key = true,
            Column::Key => match key(options, cells.key(cell)) {
                Ok(key) => row.key = Some(key),
                Err(error) => errors.push(error),
            },
            Column::Id if cells.is_null(cell) => {}
            Column::Id => match Uuid::parse_str(cell) {
                Ok(id) => row.id = Some(id),
                Err(_) => errors.push(Error::at(Code::InvalidValue, "/id", "must be a record id")),
            },
            Column::Attribute(position) => {
                let attribute = &template.attributes[*position];
                match cells.change(attribute.kind, cell, &attribute.rules()) {
                    Ok(Change::Set(Value::Null)) if attribute.required => {
                        errors.push(required(&attribute.pointer));
                    }
                    Ok(change) => row.changes.push((*position, change)),
                    Err(error) => errors.push(error),
                }
            }
        }
        if errors.len() >= MOST_FAULTS {
            break;
        }
    }
    if empty_key && row.id.is_none() && errors.is_empty() {
        errors.push(Error::at(Code::InvalidExternalKey, "/external_key", "the row has no external key"));
    }
    row.changes.sort_by_key(|change| change.0);
    Error::join(errors).map_or(Ok(row), Err)
}

/// Whether a row has a cell for each column; empty cells after them, and those of columns without a name, may be missing.
fn has_width(record: &StringRecord, columns: &[Column]) -> bool {
    match record.len().checked_sub(columns.len()) {
        Some(_) => record.iter().skip(columns.len()).all(str::is_empty),
        None => columns[record.len()..].iter().all(|column| *column == Column::Unnamed),
    }
}

/// The key of a row, with what comes before all keys of the file.
pub fn key(options: &Options, text: &str) -> Result<String, Error> {
    if options.key_prefix.is_empty() {
        return key::normalize(text).map(str::to_owned);
    }
    // The prefix must not turn a missing key into a key.
    let own = key::normalize(text)?;
    key::normalize(&format!("{}{own}", options.key_prefix)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_has_a_cell_for_each_named_column() {
        let named = [Column::Key, Column::Ignored];
        let unnamed = [Column::Key, Column::Ignored, Column::Unnamed, Column::Unnamed];
        for (columns, row, expected) in [
            (&named[..], "a,b", true),
            (&named, "a", false),
            (&named, "a,b,,", true),
            (&named, "a,b,c", false),
            (&named, "a,b,,d", false),
            (&unnamed, "a,b", true),
            (&unnamed, "a,b,,", true),
            (&unnamed, "a", false),
            (&unnamed, "a,b,,,,", true),
            (&unnamed, "a,b,,,,c", false),
        ] {
            let records = records(row, b',', 1).expect("a row");
            assert_eq!(has_width(&records[0], columns), expected, "{row}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_and_no_cell_is_invented(
            text in prop_oneof![any::<String>(), "[a,;\"'\n\r é]{0,40}"],
            delimiter in prop::sample::select(b",;\t|".to_vec()),
        ) {
            let records = records(&text, delimiter, usize::MAX).expect("texts are UTF-8");
            prop_assert!(records.iter().flatten().map(str::len).sum::<usize>() <= text.len());
            prop_assert!(records.len() <= 1 + text.matches(['\n', '\r']).count());
        }

        #[test]
        fn a_prefix_makes_no_key_of_none(prefix in "[a: ]{0,4}", text in "[ b\t]{0,6}") {
            let options = Options { key_prefix: prefix, ..Options::default() };
            match key(&options, &text) {
                Ok(found) => {
                    prop_assert_eq!(key::normalize(&found).ok(), Some(found.as_str()));
                    prop_assert!(found.ends_with(text.trim_matches(' ')));
                }
                Err(error) => {
                    prop_assert_eq!(error.code, Code::InvalidExternalKey);
                    prop_assert!(text.trim_matches(' ').is_empty() || text.contains('\t'));
                }
            }
        }
    }
}
