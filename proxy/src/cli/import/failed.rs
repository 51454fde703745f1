//! The file of refused rows, each with the reason: mended, it can be imported as it is.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use super::Format;
use super::answer::{Header, Refused};
use crate::cli::output::Output;

/// The file of refused rows.
pub(super) struct FailedRows {
    out: BufWriter<Output>,
    pub(super) format: Format,
    /// Whether any row was refused.
    has_rows: bool,
    delimiter: u8,
    /// The column of an earlier reason, which the new one replaces.
    reason: Option<usize>,
}

/// The column that says why a row was refused; an import passes over it.
const REASON: &str = "import_error";

impl FailedRows {
    pub(super) fn create(file: &Path, format: Format) -> anyhow::Result<FailedRows> {
        let out = BufWriter::new(Output::create(file)?);
        Ok(FailedRows { out, format, has_rows: false, delimiter: b',', reason: None })
    }

    pub(super) fn begin(&mut self, header: &Header) -> anyhow::Result<()> {
        if self.format == Format::Ndjson {
            return Ok(());
        }
        self.delimiter = u8::try_from(header.delimiter).unwrap_or(b',');
        self.reason = header.header.iter().position(|name| name == REASON);
        self.write(header.header.iter().map(String::as_str), REASON)
    }

    pub(super) fn add(&mut self, refused: &Refused) -> anyhow::Result<()> {
        self.has_rows = true;
        if self.format == Format::Ndjson {
            return Ok(writeln!(self.out, "{}", refused.row)?);
        }
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(refused.row.as_bytes());
        let record = reader.records().next().transpose()?.unwrap_or_default();
        self.write(record.iter(), &refused.reason())
    }

    fn write<'a>(&mut self, cells: impl Iterator<Item = &'a str>, reason: &'a str) -> anyhow::Result<()> {
        let own = self.reason;
        let cells = cells.enumerate().filter(|(position, _)| Some(*position) != own).map(|(_, cell)| cell);
        let mut writer =
            csv::WriterBuilder::new().delimiter(self.delimiter).flexible(true).from_writer(&mut self.out);
        writer.write_record(cells.chain([reason]))?;
        Ok(writer.flush()?)
    }

    /// The file is there from now on, if there is anything to mend.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if !self.has_rows {
            return Ok(());
        }
        let out = self.out.into_inner().map_err(|error| error.into_error());
        out.context("cannot write the refused rows")?.keep()
    }
}
