//! Finds the ends of CSV rows, and rejects rows with invalid quotes. The csv crate, which parses the cells of the other
//! rows, would accept such rows and merge them with the rows after them.
//!
//! A rejected row consists of only its first line, and the next line begins a new row. A superfluous quote therefore
//! affects only one row, and not all rows up to the next quote.

use super::pending::Pending;
use crate::file::chunk::Defect;

/// The state of the scan.
pub(super) struct CsvScan {
    delimiter: u8,
    state: State,
    after_return: bool,
}

/// The position within a row at the end of the scanned text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// After a quote within a quoted cell, which is the end of the cell or the first of two quotes.
    Quote,
    /// After text that follows a closing quote. The rest of the line is skipped.
    Rejected,
}

impl CsvScan {
    /// Starts at the beginning of a row.
    pub(super) fn new(delimiter: u8) -> CsvScan {
        CsvScan { delimiter, state: State::CellStart, after_return: false }
    }

    /// Scans the new text.
    pub(super) fn scan(&mut self, pending: &mut Pending) {
        while pending.seen < pending.text.len() {
            let bytes = pending.text.as_bytes();
            // Skips the bytes of a cell.
            let rest = &bytes[pending.seen..];
            let skipped = match self.state {
                State::Quoted => memchr::memchr3(b'"', b'\n', b'\r', rest),
                State::Plain => memchr::memchr3(self.delimiter, b'\n', b'\r', rest),
                State::Rejected => memchr::memchr2(b'\n', b'\r', rest),
                State::CellStart | State::Quote => Some(0),
            };
            let Some(skipped) = skipped else {
                self.after_return &= rest.is_empty();
                pending.seen = pending.text.len();
                break;
            };
            self.after_return &= skipped == 0;
            let at = pending.seen + skipped;
            let byte = bytes[at];
            pending.seen = at + 1;
            let ends_line = byte == b'\n' || byte == b'\r';
            if byte == b'\r' || byte == b'\n' && !self.after_return {
                pending.line += 1;
            }
            self.after_return = byte == b'\r';
            self.state = match (self.state, byte) {
                (State::CellStart | State::Quote, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) if at >= pending.single_until => State::Quoted,
                _ if ends_line => {
                    self.end_row(pending, at, at + 1);
                    pending.start_line = pending.line;
                    State::CellStart
                }
                (_, byte) if byte == self.delimiter => State::CellStart,
                (State::Quote, _) if self.reject(pending, at) => State::CellStart,
                (State::Quote, _) => State::Rejected,
                _ => State::Plain,
            };
            if pending.start == pending.seen {
                // The line feed of a CRLF pair belongs to the previous line.
                pending.start_line = pending.line;
            }
        }
    }

    /// Rejects the first line of a row that is open at the end of the text, if the row has more lines. Returns whether it has.
    pub(super) fn reject_open(&mut self, pending: &mut Pending) -> bool {
        let end = pending.text.len();
        self.state == State::Quoted && self.reject(pending, end)
    }

    /// Ends the last row if it has no line break.
    pub(super) fn end(&mut self, pending: &mut Pending) {
        if self.reject_open(pending) {
            self.scan(pending);
        }
        let end = pending.text.len();
        self.end_row(pending, end, end);
    }

    /// Rejects the first line of a row that is found to be malformed at `defect`, and continues with the line after it.
    /// Returns false if the row has only one line.
    ///
    /// A row that begins in one of the lines in between and continues in the next line reaches the same error, because
    /// it contains the same quoted cell at the end of its line. Such a row is therefore rejected at the end of its line
    /// (`single_until`), and no line is scanned more than twice.
    fn reject(&mut self, pending: &mut Pending, defect: usize) -> bool {
        let row = &pending.text.as_bytes()[pending.start..defect];
        let (Some(end), Some(last)) =
            (memchr::memchr2(b'\n', b'\r', row), memchr::memrchr2(b'\n', b'\r', row))
        else {
            return false;
        };
        let (end, last) = (pending.start + end, pending.start + last);
        self.after_return = pending.text.as_bytes()[end] == b'\r';
        pending.end_row(end, end + 1, Some(Defect::Unclosed));
        (pending.seen, pending.single_until) = (end + 1, last + 1);
        pending.start_line += 1;
        pending.line = pending.start_line;
        self.state = State::CellStart;
        true
    }

    fn end_row(&mut self, pending: &mut Pending, end: usize, next: usize) {
        let defect = match self.state {
            State::Quoted => Some(Defect::Unclosed),
            State::Rejected => Some(Defect::AfterQuote),
            State::CellStart | State::Plain | State::Quote => None,
        };
        if defect.is_none() && is_blank(&pending.text.as_bytes()[pending.start..end], self.delimiter) {
            pending.skip_to(end, next);
        } else {
            pending.end_row(end, next, defect);
        }
        self.state = State::CellStart;
    }
}

/// Whether every cell of a row is empty.
fn is_blank(row: &[u8], delimiter: u8) -> bool {
    row.iter().all(|byte| *byte == delimiter || *byte == b'"')
        && row.split(|byte| *byte == delimiter).all(|cell| matches!(cell, b"" | b"\"\""))
}

/// Whether a single row has invalid quotes.
pub(crate) fn is_malformed(row: &str, delimiter: u8) -> bool {
    let mut pending = Pending::new();
    pending.text.push_str(row);
    let mut scan = CsvScan::new(delimiter);
    scan.scan(&mut pending);
    scan.end(&mut pending);
    pending.rows.iter().any(|row| row.defect.is_some())
}
