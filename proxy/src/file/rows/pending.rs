//! The text of a file that has not been returned yet: complete rows, and the beginning of the next row.

use crate::file::chunk::{Chunk, Defect, Row};

/// Pending text and its rows.
pub(super) struct Pending {
    pub(super) text: String,
    /// The position of the scan.
    pub(super) seen: usize,
    pub(super) rows: Vec<Row>,
    /// The start of the unfinished row, and its line.
    pub(super) start: usize,
    pub(super) start_line: u64,
    /// The last line that was read.
    pub(super) line: u64,
    /// Up to this position, a CSV row ends with its line.
    pub(super) single_until: usize,
    /// Whether the text contains skipped lines, so that a chunk is not a contiguous piece of it.
    has_gaps: bool,
}

impl Pending {
    /// Starts at the first line of a file.
    pub(super) fn new() -> Pending {
        Pending {
            text: String::new(),
            seen: 0,
            rows: Vec::new(),
            start: 0,
            start_line: 1,
            line: 1,
            single_until: 0,
            has_gaps: false,
        }
    }

    /// The number of bytes of the unfinished row.
    pub(super) fn unfinished(&self) -> usize {
        self.text.len() - self.start
    }

    /// Ends a row, and starts the next one.
    pub(super) fn end_row(&mut self, end: usize, next: usize, defect: Option<Defect>) {
        self.rows.push(Row { line: self.start_line, start: self.start, end, defect });
        self.start = next;
    }

    /// Skips the text up to `end`, which contains no row, and starts the next row.
    pub(super) fn skip_to(&mut self, end: usize, next: usize) {
        self.has_gaps |= end > self.start;
        self.start = next;
    }

    /// Whether there are `max_rows` rows, or `bytes` bytes before the unfinished row.
    pub(super) fn is_full(&self, max_rows: usize, bytes: usize) -> bool {
        !self.rows.is_empty() && (self.rows.len() >= max_rows || self.start > bytes)
    }

    /// Drops the text up to the unfinished row if it contains no rows, because a file may begin with any number of blank lines.
    pub(super) fn drop_skipped(&mut self) {
        if self.rows.is_empty() && self.start > 0 {
            self.drop_until(self.start);
            self.has_gaps = false;
        }
    }

    /// Returns a chunk of at most `max_rows` rows, none of which begins after `bytes` bytes. `is_flat` puts each row on one line.
    pub(super) fn cut(&mut self, max_rows: usize, bytes: usize, is_flat: bool) -> Option<Chunk> {
        let fits = |(position, row): (usize, &Row)| {
            (position + 1 >= max_rows || row.end >= bytes).then_some(position + 1)
        };
        let count = self.rows.iter().enumerate().find_map(fits).unwrap_or(self.rows.len());
        let rest = self.rows.split_off(count);
        let mut rows = std::mem::replace(&mut self.rows, rest);
        let (begin, end) = (rows.first()?.start, rows.last()?.end);
        let chunk = if self.has_gaps || is_flat {
            self.copy_rows(&rows, is_flat)
        } else {
            for row in &mut rows {
                row.start -= begin;
                row.end -= begin;
            }
            Chunk { text: self.text[begin..end].to_owned(), rows }
        };
        self.drop_until(end);
        Some(chunk)
    }

    /// Drops the beginning of the text, which contains no more rows.
    fn drop_until(&mut self, end: usize) {
        self.text.drain(..end);
        for row in &mut self.rows {
            row.start -= end;
            row.end -= end;
        }
        self.start -= end;
        self.seen -= end;
        self.single_until = self.single_until.saturating_sub(end);
    }

    /// The rows without the text between them.
    fn copy_rows(&self, rows: &[Row], is_flat: bool) -> Chunk {
        let mut chunk = Chunk::default();
        for row in rows {
            let text = &self.text[row.start..row.end];
            if is_flat && text.contains('\n') {
                chunk.push_with(row.line, &text.replace('\n', " "), row.defect);
            } else {
                chunk.push_with(row.line, text, row.defect);
            }
        }
        chunk
    }
}
