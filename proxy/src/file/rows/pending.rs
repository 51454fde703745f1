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
    /// Whether no row was given out yet.
    pub(super) is_beginning: bool,
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
            is_beginning: true,
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

    /// Whether there are as many rows as a portion has.
    pub(super) fn is_full(&self, most: usize, bytes: usize) -> bool {
        self.rows.len() >= most || self.rows.last().is_some_and(|last| last.end >= bytes)
    }

    /// The rows of a portion: at most so many, and no more that begin beyond so many bytes. `is_flat` puts each into one line.
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
        self.text.drain(..end);
        for row in &mut self.rows {
            row.start -= end;
            row.end -= end;
        }
        self.start = self.start.saturating_sub(end);
        self.seen -= end;
        self.single_until = self.single_until.saturating_sub(end);
        self.is_beginning = false;
        Some(portion)
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
