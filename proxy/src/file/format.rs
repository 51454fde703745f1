//! The formats of files of records.

use clap::ValueEnum;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// A spreadsheet.
    Xlsx,
}

/// The media type of XLSX.
pub(crate) const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

impl Format {
    /// The name in requests, which is also the file extension.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Xlsx => "xlsx",
        }
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv",
            Format::Ndjson => "application/x-ndjson",
            Format::Xlsx => XLSX,
        }
    }
}
