//! The text of a file that has not been given out yet: complete rows, and the beginning of one.

use crate::file::portion::{Fault, Portion, Row};

/// Pending text and its rows.
pub(super) struct Pending {
    pub(super) text: String,
    /// The position of the scan.
    pub(super) seen: usize,
    pub(super) rows: Vec<Row>,
    /// Where the unfinished row begins, and in which line.
    pub(super) start: usize,
    pub(super) start_line: u64,
    /// The line that was read last.
    pub(super) line: u64,
    /// Up to here, a row of CSV ends with its line.
    pub(super) single_until: usize,
    /// Whether the text has rows that are passed over, so that a portion is not a piece of it.
    has_gaps: bool,
}

impl Pending {
    /// Begins with the first line of a file.
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

    /// Ends the row, and begins the next one.
    pub(super) fn end_row(&mut self, end: usize, next: usize, fault: Option<Fault>) {
        self.rows.push(Row { line: self.start_line, start: self.start, end, fault });
        self.start = next;
    }

    /// Passes over the text up to `end`, in which there is no row, and begins the next one.
    pub(super) fn pass_over(&mut self, end: usize, next: usize) {
        self.has_gaps |= end > self.start;
        self.start = next;
    }

    /// Whether there are as many rows as a portion has, or as many bytes up to the unfinished one.
    pub(super) fn is_full(&self, most: usize, bytes: usize) -> bool {
        !self.rows.is_empty() && (self.rows.len() >= most || self.start > bytes)
    }

    /// Drops the text up to the unfinished row if it has no rows: a file may begin with any number of blank lines.
    pub(super) fn drop_passed(&mut self) {
        if self.rows.is_empty() && self.start > 0 {
            self.drop_until(self.start);
            self.has_gaps = false;
        }
    }

    /// The rows of a portion: at most `most`, and none that begins beyond `bytes`. `is_flat` puts each into one line.
    pub(super) fn cut(&mut self, most: usize, bytes: usize, is_flat: bool) -> Option<Portion> {
        let fits = |(position, row): (usize, &Row)| {
            (position + 1 >= most || row.end >= bytes).then_some(position + 1)
        };
        let count = self.rows.iter().enumerate().find_map(fits).unwrap_or(self.rows.len());
        let rest = self.rows.split_off(count);
        let mut rows = std::mem::replace(&mut self.rows, rest);
        let (begin, end) = (rows.first()?.start, rows.last()?.end);
        let portion = if self.has_gaps || is_flat {
            self.gathered(&rows, is_flat)
        } else {
            for row in &mut rows {
                row.start -= begin;
                row.end -= begin;
            }
            Portion { text: self.text[begin..end].to_owned(), rows }
        };
        self.drop_until(end);
        Some(portion)
    }

    /// Drops the beginning of the text, in which no row is left.
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

    /// The rows without what is between them.
    fn gathered(&self, rows: &[Row], is_flat: bool) -> Portion {
        let mut portion = Portion::default();
        for row in rows {
            let text = &self.text[row.start..row.end];
            if is_flat && text.contains('\n') {
                portion.push_with(row.line, &text.replace('\n', " "), row.fault);
            } else {
                portion.push_with(row.line, text, row.fault);
            }
        }
        portion
    }
}
