//! Spreadsheets (XLSX): a sheet → rows of typed cells, and back. A row is a JSON array, which the database reads and
//! writes, of null, strings, numbers, true, false, `{"date": "2024-02-29T13:45:00"}`, and `{"failure": "#N/A", "at":
//! "B7"}`.

/// The parts of a ZIP archive.
mod archive;
/// The cells of a sheet.
mod cells;
/// A row → a line of CSV.
mod csv_line;
/// Serial number → date and time.
mod date;
/// Why a file cannot be read.
mod error;
/// A sheet → rows.
mod reader;
/// Shared strings.
mod shared_strings;
/// Number formats.
mod styles;
/// The sheets of a workbook.
mod workbook;
/// Rows → a sheet.
mod writer;
/// XML → events, in bounded memory.
mod xml;

pub(crate) use self::csv_line::csv_line;
pub(crate) use self::error::Unreadable;
pub(crate) use self::reader::{Event, read};
pub(crate) use self::writer::{Unwritable, Writer};

#[cfg(test)]
mod tests;
