//! Spreadsheets (XLSX): a sheet → rows of cells with types, and back. Rows are JSON arrays, which the database reads and writes:
//! null, texts, numbers, true, false, `{"date": "2024-02-29T13:45:00"}`, and `{"failure": "#N/A", "at": "B7"}`.

/// The parts of a ZIP archive.
mod archive;
/// The cells of a sheet.
mod cells;
/// A row → a line of CSV.
mod csv_line;
/// The number of a day → its date.
mod date;
/// Why a file cannot be read.
mod fault;
/// A sheet → rows.
mod reader;
/// Which cells show dates.
mod styles;
/// The texts that cells share.
mod texts;
/// The sheets of a workbook.
mod workbook;
/// Rows → a sheet.
mod writer;
/// XML → events, in bounded memory.
mod xml;

pub(crate) use self::csv_line::csv_line;
pub(crate) use self::fault::Unreadable;
pub(crate) use self::reader::{Event, read};
pub(crate) use self::writer::{Unwritable, Writer};

#[cfg(test)]
mod tests;
