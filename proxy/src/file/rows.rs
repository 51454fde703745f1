//! Text → complete rows, in chunks. Only finds the ends of rows; the database parses cells and JSON.

/// The elements of a JSON array.
mod array_scan;
/// The rows of CSV.
mod csv_scan;
/// The text that has not been returned yet.
mod pending;

use self::array_scan::ArrayScan;
use self::csv_scan::CsvScan;
pub(crate) use self::csv_scan::is_malformed;
use self::pending::Pending;
use super::chunk::{Chunk, Defect};

/// The maximum number of bytes of a row.
pub(crate) const MAX_ROW_BYTES: usize = 4 << 20;
/// The size and the default number of rows at which a chunk ends.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;
pub(crate) const CHUNK_ROWS: usize = 2000;

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// CSV with this delimiter. A row ends at the end of a line, unless a quoted cell is open.
    Csv(u8),
    /// JSON. If the text begins with an array, each element is a row; otherwise, each line.
    Json,
}

/// Why no more rows can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The row that begins in this line is too long.
    TooLong(u64),
    /// The header, in this line, is malformed.
    Header(u64, Defect),
    /// The first JSON object, which begins in this line, spans several lines.
    Spread(u64),
    /// Text follows a JSON array, in this line.
    AfterArray(u64),
    /// The text ends in this line, before the end of the JSON array.
    OpenArray(u64),
}

/// Splits text that arrives in pieces into rows.
pub(crate) struct Rows {
    scan: Scan,
    /// The maximum number of rows of a chunk.
    max_rows: usize,
    pending: Pending,
}

enum Scan {
    Csv(CsvScan),
    /// Only white space has arrived.
    Undecided,
    Lines {
        /// Whether the first line has been scanned.
        is_begun: bool,
    },
    Array(ArrayScan),
}

impl Rows {
    /// Starts at the first line of a file.
    pub(crate) fn new(form: Form) -> Rows {
        let scan = match form {
            Form::Csv(delimiter) => Scan::Csv(CsvScan::new(delimiter)),
            Form::Json => Scan::Undecided,
        };
        Rows { scan, max_rows: CHUNK_ROWS, pending: Pending::new() }
    }

    /// Sets the maximum number of rows of the next chunks.
    pub(crate) fn set_max_rows(&mut self, rows: usize) {
        self.max_rows = rows;
    }

    /// The last line that was read.
    pub(crate) fn line(&self) -> u64 {
        self.pending.line
    }

    /// Appends the next piece of the text, and scans it.
    pub(crate) fn extend<E>(&mut self, append: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        let appended = append(&mut self.pending.text);
        self.scan();
        self.pending.drop_skipped();
        appended
    }

    /// Returns a chunk of complete rows, or with `is_end`, of the remaining rows. `None` if there are too few.
    pub(crate) fn take(&mut self, is_end: bool) -> Result<Option<Chunk>, Unreadable> {
        self.require_readable(is_end)?;
        let is_full = self.pending.is_full(self.max_rows, CHUNK_BYTES);
        if !is_full && is_end {
            self.end();
        }
        if let Some(long) = self.pending.rows.iter().find(|row| row.end - row.start > MAX_ROW_BYTES) {
            return Err(Unreadable::TooLong(long.line));
        }
        if !is_full && !is_end {
            return Ok(None);
        }
        // An array element may span several lines, but the database requires one line per row.
        let is_flat = matches!(self.scan, Scan::Array(_));
        Ok(self.pending.cut(self.max_rows, CHUNK_BYTES, is_flat))
    }

    /// Returns the first row if it is complete.
    pub(crate) fn take_first(&mut self, is_end: bool) -> Result<Option<String>, Unreadable> {
        if self.pending.rows.is_empty() {
            self.require_readable(is_end)?;
            if is_end {
                self.end();
            }
        }
        if self.pending.rows.is_empty() {
            return Ok(None);
        }
        let first = self.pending.rows.remove(0);
        match first.defect {
            Some(defect) => Err(Unreadable::Header(first.line, defect)),
            None => Ok(Some(self.pending.text[first.start..first.end].to_owned())),
        }
    }

    /// Rejects text that is malformed regardless of its continuation.
    fn require_readable(&mut self, is_end: bool) -> Result<(), Unreadable> {
        while self.pending.unfinished() > MAX_ROW_BYTES {
            // An unclosed quote does not hide the rows after it.
            let is_rejected = match &mut self.scan {
                Scan::Csv(scan) => scan.reject_open(&mut self.pending),
                Scan::Undecided | Scan::Lines { .. } | Scan::Array(_) => false,
            };
            if !is_rejected {
                return Err(Unreadable::TooLong(self.pending.start_line));
            }
            self.scan();
        }
        let line = self.pending.line;
        match &mut self.scan {
            Scan::Array(scan) if scan.has_trailing_text() => Err(Unreadable::AfterArray(line)),
            Scan::Array(scan) if is_end && !scan.is_complete() => Err(Unreadable::OpenArray(line)),
            Scan::Lines { is_begun } if !*is_begun => {
                let first = self.pending.rows.first();
                *is_begun = first.is_some();
                match first.filter(|first| continues_on_next_line(&self.pending.text[first.start..first.end]))
                {
                    Some(first) => Err(Unreadable::Spread(first.line)),
                    None => Ok(()),
                }
            }
            Scan::Array(_) | Scan::Csv(_) | Scan::Lines { .. } | Scan::Undecided => Ok(()),
        }
    }

    /// Ends the last row if it has no line break.
    fn end(&mut self) {
        let end = self.pending.text.len();
        match &mut self.scan {
            Scan::Csv(scan) => scan.end(&mut self.pending),
            Scan::Lines { .. } => end_line(&mut self.pending, end, end),
            Scan::Array(_) | Scan::Undecided => {}
        }
    }

    fn scan(&mut self) {
        if matches!(self.scan, Scan::Undecided) {
            let bytes = self.pending.text.as_bytes();
            let rest = &bytes[self.pending.seen..];
            self.pending.seen += rest.len() - rest.trim_ascii_start().len();
            match bytes.get(self.pending.seen) {
                None => return,
                Some(b'[') => self.scan = Scan::Array(ArrayScan::default()),
                Some(_) => self.scan = Scan::Lines { is_begun: false },
            }
            // The scanners count the lines of the white space.
            self.pending.seen = 0;
        }
        match &mut self.scan {
            Scan::Csv(scan) => scan.scan(&mut self.pending),
            Scan::Array(scan) => scan.scan(&mut self.pending),
            Scan::Lines { .. } => scan_lines(&mut self.pending),
            Scan::Undecided => {}
        }
    }
}

/// Whether a line begins a JSON object that continues in the next lines. Otherwise, these lines would be rejected one
/// by one, except those that happen to be objects.
fn continues_on_next_line(line: &str) -> bool {
    line.trim_ascii_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof())
}

/// Ends the rows of complete lines. A carriage return without a line feed is white space.
fn scan_lines(pending: &mut Pending) {
    while let Some(skipped) = memchr::memchr(b'\n', &pending.text.as_bytes()[pending.seen..]) {
        let at = pending.seen + skipped;
        (pending.seen, pending.line) = (at + 1, pending.line + 1);
        end_line(pending, at, at + 1);
        pending.start_line = pending.line;
    }
    pending.seen = pending.text.len();
}

fn end_line(pending: &mut Pending, end: usize, next: usize) {
    if pending.text.as_bytes()[pending.start..end].trim_ascii().is_empty() {
        pending.skip_to(end, next);
    } else {
        pending.end_row(end, next, None);
    }
}

#[cfg(test)]
mod tests;
