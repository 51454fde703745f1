//! Rows → a sheet. Only one row is in memory: the library stores the sheet in an unnamed temporary file.

use std::io::Write;

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, XlsxError};
use serde_json::Value;
use serde_json::value::RawValue;

/// The maximum number of rows of a sheet, including the header.
const MAX_ROWS: u32 = 1_048_576;
/// The maximum number of UTF-16 code units of a cell.
const MAX_CHARACTERS: usize = 32_767;

/// Why a row cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// There are more rows than a sheet can have.
    TooManyRows,
    /// The text in this row and column is longer than a cell can hold.
    LongText(u32, String),
    /// The file could not be written.
    Failed(String),
}

impl From<XlsxError> for Unwritable {
    fn from(error: XlsxError) -> Unwritable {
        Unwritable::Failed(error.to_string())
    }
}

fn unreadable(error: serde_json::Error) -> Unwritable {
    Unwritable::Failed(error.to_string())
}

/// Writes a sheet.
pub(crate) struct Writer {
    workbook: Workbook,
    header: Vec<String>,
    next: u32,
    date: Format,
    time: Format,
}

impl Writer {
    /// A workbook with one sheet of this name.
    pub(crate) fn new(name: &str) -> Result<Writer, Unwritable> {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        // Names have at most 31 characters.
        sheet.set_name(name.chars().take(31).collect::<String>())?;
        sheet.set_freeze_panes(1, 0)?;
        let format = |text: &str| Format::new().set_num_format(text);
        let (date, time) = (format("yyyy-mm-dd"), format("yyyy-mm-dd hh:mm:ss"));
        Ok(Writer { workbook, header: Vec::new(), next: 0, date, time })
    }

    /// Appends rows, one per line. The first row is the header.
    pub(crate) fn write(&mut self, rows: &str) -> Result<(), Unwritable> {
        for row in rows.lines() {
            let cells: Vec<&RawValue> = serde_json::from_str(row).map_err(unreadable)?;
            if self.next >= MAX_ROWS {
                return Err(Unwritable::TooManyRows);
            }
            if self.next == 0 {
                self.header = serde_json::from_str(row).map_err(unreadable)?;
            }
            for (column, cell) in cells.iter().enumerate() {
                self.write_cell(column, cell.get())?;
            }
            self.next += 1;
        }
        Ok(())
    }

    fn write_cell(&mut self, column: usize, cell: &str) -> Result<(), Unwritable> {
        let (row, column_index) = (self.next, column as u16);
        let sheet = self.workbook.worksheet_from_index(0)?;
        match serde_json::from_str(cell).map_err(unreadable)? {
            Value::Null => {}
            Value::Bool(value) => {
                sheet.write_boolean(row, column_index, value)?;
            }
            Value::Number(_) => {
                // The JSON parser is not exact in the last digit.
                let number: f64 =
                    cell.parse().map_err(|_| Unwritable::Failed(format!("{cell} is not a number")))?;
                sheet.write_number(row, column_index, number)?;
            }
            Value::String(text) => {
                if text.encode_utf16().count() > MAX_CHARACTERS {
                    let name = self.header.get(column).cloned().unwrap_or_default();
                    return Err(Unwritable::LongText(row + 1, name));
                }
                sheet.write_string(row, column_index, text.as_str())?;
            }
            Value::Object(members) => {
                let date = members.get("date").and_then(Value::as_str).unwrap_or_default();
                let is_day = date.ends_with("T00:00:00") || !date.contains('T');
                let format = if is_day { &self.date } else { &self.time };
                let at = ExcelDateTime::parse_from_str(date)?;
                sheet.write_datetime_with_format(row, column_index, at, format)?;
            }
            Value::Array(_) => return Err(Unwritable::Failed("a cell is an array".to_owned())),
        }
        Ok(())
    }

    /// Writes the file.
    pub(crate) fn finish(mut self, out: impl Write + Send) -> Result<(), Unwritable> {
        Ok(self.workbook.save_to_writer(out)?)
    }
}
