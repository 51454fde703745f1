//! The file of rejected rows with their reasons, which can be corrected and imported again.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use encoding_rs::Encoding;

use super::response::{Header, RejectedRow};
use crate::output::Output;
use keyed_proxy::file::format::Format;
use keyed_proxy::file::rejected_rows::{RejectedRows, byte_order_mark};

/// The file of rejected rows.
pub(super) struct FailedRows {
    out: BufWriter<Output>,
    pub(super) format: Format,
    /// The format of the imported file.
    declared: Option<&'static Encoding>,
    /// Whether any row was rejected.
    has_rows: bool,
    /// For CSV, set when the header is known.
    rows: Option<RejectedRows>,
}

impl FailedRows {
    pub(super) fn create(
        file: &Path,
        format: Format,
        declared: Option<&'static Encoding>,
    ) -> anyhow::Result<FailedRows> {
        let out = BufWriter::new(Output::create(file)?);
        Ok(FailedRows { out, format, declared, has_rows: false, rows: None })
    }

    pub(super) fn begin(&mut self, header: &Header) -> anyhow::Result<()> {
        if self.format == Format::Ndjson {
            return Ok(self.out.write_all(byte_order_mark(self.declared).as_bytes())?);
        }
        let delimiter = u8::try_from(header.delimiter).unwrap_or(b',');
        let rows = RejectedRows::new(&header.header, delimiter, self.declared);
        self.out.write_all(&rows.header(&header.header))?;
        self.rows = Some(rows);
        Ok(())
    }

    pub(super) fn add(&mut self, rejected: &RejectedRow) -> anyhow::Result<()> {
        self.has_rows = true;
        match &self.rows {
            Some(rows) => self.out.write_all(&rows.row(&rejected.row, &rejected.reason()))?,
            None => writeln!(self.out, "{}", rejected.row)?,
        }
        Ok(())
    }

    /// Puts the file in place if it has rows.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if !self.has_rows {
            return Ok(());
        }
        let out = self.out.into_inner().map_err(|error| error.into_error());
        out.context("cannot write the rejected rows")?.keep()
    }
}
