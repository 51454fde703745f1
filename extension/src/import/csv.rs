//! Arrays of cells → rows, for CSV and for spreadsheets, whose cells have types.

use super::cells::{Cell, Cells};
use super::columns::Column;
use super::matching::{Matching, by_text};
use super::ndjson::lines;
use super::options::Options;
use super::{Outcome, Row};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error, MAX_VIOLATIONS};
use crate::record::changes::required;
use crate::template::Template;
use crate::value::change::{Change, Value};
use crate::value::vector::Embedding;
use csv::StringRecord;
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// Parses a chunk of a file: at most `limit` complete rows, without the header.
pub fn records(text: &str, delimiter: u8, limit: usize) -> Result<Vec<StringRecord>, Error> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let unreadable =
        |error: csv::Error| Error::new(Code::MalformedRequest, format!("the CSV cannot be read: {error}"));
    reader.records().take(limit).collect::<Result<Vec<_>, _>>().map_err(unreadable)
}

/// The cells of each record.
pub fn cells(records: &[StringRecord]) -> Vec<Vec<Cell<'_>>> {
    let cells = |record| StringRecord::iter(record).map(|cell| Cell::Text(Cow::Borrowed(cell))).collect();
    records.iter().map(cells).collect()
}

/// The cells of each spreadsheet row: each line is an array. At most `limit` rows.
pub fn typed_cells(text: &str, limit: usize) -> Result<Vec<Vec<Cell<'_>>>, Error> {
    let rows = lines(text).take(limit).map(|line| {
        let row: Vec<&RawValue> = serde_json::from_str(line).map_err(|error| {
            Error::new(Code::MalformedRequest, format!("a row of cells is not a JSON array: {error}"))
        })?;
        row.into_iter().map(Cell::parse).collect()
    });
    rows.collect()
}

/// Parses each array of cells as a row, or returns its error.
pub fn rows<'a>(
    template: &Template,
    columns: &[Column],
    options: &Options,
    matching: &Matching,
    cells: &Cells,
    records: &'a [Vec<Cell<'a>>],
) -> (Vec<Row<'a>>, Vec<(usize, Outcome)>) {
    let (mut rows, mut rejected) = (Vec::with_capacity(records.len()), Vec::new());
    for (index, record) in records.iter().enumerate() {
        pgrx::check_for_interrupts!();
        match row(template, columns, options, matching, cells, index, record) {
            Ok(row) => rows.push(row),
            Err(error) => rejected.push((index, Outcome::Rejected(error))),
        }
    }
    (rows, rejected)
}

fn row<'a>(
    template: &Template,
    columns: &[Column],
    options: &Options,
    matching: &Matching,
    cells: &Cells,
    index: usize,
    record: &'a [Cell<'a>],
) -> Result<Row<'a>, Error> {
    check_width(record, columns, options)?;
    let changes = Vec::with_capacity(columns.len());
    let mut row = Row { index, key: None, id: None, changes, embedding: Embedding::Absent, exists: false };
    let mut errors = Vec::new();
    let mut empty_key = false;
    // A spreadsheet omits empty cells at the end of a row.
    let padded = record.iter().chain(std::iter::repeat(&Cell::Empty));
    for (position, (cell, column)) in padded.zip(columns).enumerate() {
        match column {
            Column::Ignored => {}
            Column::Unnamed if cell.is_empty() => {}
            Column::Unnamed => errors.push(unnamed(cell, position)),
            Column::Key if cells.is_null(cell) => empty_key = true,
            Column::Key => match cells.key(cell, "/external_key").and_then(|text| options.key(text)) {
                Ok(key) => row.key = Some(key),
                Err(error) => errors.push(error),
            },
            Column::Id if cells.is_null(cell) => {}
            Column::Id => match cells.key(cell, "/id").map(Uuid::parse_str) {
                Ok(Ok(id)) => row.id = Some(id),
                _ => errors.push(Error::at(Code::InvalidValue, "/id", "must be a record id")),
            },
            Column::Attribute(position) => {
                let attribute = &template.attributes[*position];
                let change = match matching.get(*position) {
                    None => cells.change(attribute.kind, cell, &attribute.rules()),
                    Some(matched) => cells
                        .change(AttributeType::String, cell, &attribute.rules())
                        .map(|change| by_text(change, matched)),
                };
                match change {
                    Ok(Change::Set(Value::Null)) if attribute.required => {
                        errors.push(required(&attribute.pointer));
                    }
                    Ok(change) => row.changes.push((*position, change)),
                    Err(error) => errors.push(error),
                }
            }
        }
        if errors.len() >= MAX_VIOLATIONS {
            break;
        }
    }
    if empty_key && row.id.is_none() && errors.is_empty() {
        errors.push(Error::at(Code::InvalidExternalKey, "/external_key", "the row has no external key"));
    }
    row.changes.sort_by_key(|change| change.0);
    Error::join(errors).map_or(Ok(row), Err)
}

fn unnamed(cell: &Cell, position: usize) -> Error {
    let pointer = format!("/{}", position + 1);
    let message = format!("{} is in column {}, which has no name", cell.shown(), position + 1);
    Error::at(Code::InvalidValue, pointer, message)
        .hint("Name the column in the first line, or empty its cells.")
}

fn check_width(record: &[Cell], columns: &[Column], options: &Options) -> Result<(), Error> {
    if has_width(record, columns, options.is_typed) {
        return Ok(());
    }
    let message = format!("the row has {} cells, the header has {}", record.len(), columns.len());
    let hint = match options.is_typed {
        true => "Name every column in the first row.",
        false => "Put a cell that contains the delimiter, a quote or a line break in double quotes.",
    };
    Err(Error::new(Code::InvalidValue, message).hint(hint))
}

/// Whether a row has a cell for each column. Empty cells at the end of a spreadsheet row may be missing, and so may cells
/// of columns without a name. Additional cells must be empty.
fn has_width(record: &[Cell], columns: &[Column], is_typed: bool) -> bool {
    match record.len().checked_sub(columns.len()) {
        Some(_) => record[columns.len()..].iter().all(Cell::is_empty),
        None => is_typed || columns[record.len()..].iter().all(|column| *column == Column::Unnamed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn row_has_a_cell_for_each_named_column() {
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
            assert_eq!(has_width(&cells(&records)[0], columns, false), expected, "{row}");
            assert!(has_width(&[], columns, true));
        }
    }

    proptest! {
        #[test]
        fn parser_preserves_the_number_of_cells(
            text in prop_oneof![any::<String>(), "[a,;\"'\n\r é]{0,40}"],
            delimiter in prop::sample::select(b",;\t|".to_vec()),
        ) {
            let records = records(&text, delimiter, usize::MAX).expect("texts are UTF-8");
            prop_assert!(records.iter().flatten().map(str::len).sum::<usize>() <= text.len());
            prop_assert!(records.len() <= 1 + text.matches(['\n', '\r']).count());
        }
    }
}
