//! Text → complete rows, in portions. Only finds the ends of rows; the database parses the cells.

/// The most bytes of one row.
pub(crate) const MOST_ROW_BYTES: usize = 4 << 20;
/// The size and number of rows at which a portion ends, unless another number is set.
pub(crate) const PORTION_BYTES: usize = 1 << 20;
pub(crate) const PORTION_ROWS: usize = 2000;

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// CSV with this delimiter: a row ends with its line, unless a quoted cell continues.
    Csv(u8),
    /// A row for each line.
    Lines,
}

/// Where in a row the text before ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: the end of it, or the first of two.
    Quote,
}

/// Why there are no further rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The row that begins in this line is too long.
    TooLong(u64),
    /// The row that begins in this line has a quote that is never closed.
    Unclosed(u64),
}

/// A whole row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The line of the file that it begins in, counted from 1.
    pub(crate) line: u64,
    /// Its range in the text, without the line end.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Complete rows and their text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Portion {
    pub(crate) text: String,
    pub(crate) rows: Vec<Row>,
}

impl Portion {
    /// The text of a row.
    pub(crate) fn row(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", |row| &self.text[row.start..row.end])
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, line: u64, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.rows.push(Row { line, start, end: self.text.len() });
        self.text.push('\n');
    }

    /// Takes out the rows that PostgreSQL could not even be sent: those with a character U+0000.
    pub(crate) fn without_zeros(self) -> (Portion, Vec<(u64, String)>) {
        if !self.text.contains('\0') {
            return (self, Vec::new());
        }
        let (mut kept, mut refused) = (Portion::default(), Vec::new());
        for (position, row) in self.rows.iter().enumerate() {
            let text = self.row(position);
            if text.contains('\0') {
                refused.push((row.line, text.to_owned()));
            } else {
                kept.push(row.line, text);
            }
        }
        (kept, refused)
    }
}

/// Splits a text that arrives in chunks into rows.
pub(crate) struct Rows {
    form: Form,
    /// The number of rows of a portion.
    most: usize,
    state: State,
    /// Pending text: complete rows, and the beginning of one.
    text: String,
    /// The position of the scan.
    seen: usize,
    rows: Vec<Row>,
    /// Where the unfinished row begins, and in which line.
    start: usize,
    start_line: u64,
    line: u64,
    after_return: bool,
}

impl Rows {
    /// Begins with the first line of a file.
    pub(crate) fn new(form: Form) -> Rows {
        Rows {
            form,
            most: PORTION_ROWS,
            state: State::CellStart,
            text: String::new(),
            seen: 0,
            rows: Vec::new(),
            start: 0,
            start_line: 1,
            line: 1,
            after_return: false,
        }
    }

    /// Sets the number of rows of further portions.
    pub(crate) fn set_most(&mut self, rows: usize) {
        self.most = rows;
    }

    /// The line that was read last.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Lets the next chunk of the text be appended, and looks at it.
    pub(crate) fn extend<E>(&mut self, append: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        let appended = append(&mut self.text);
        self.scan();
        appended
    }

    /// Returns a portion of complete rows, or with `is_end` all remaining ones. `None` if there are too few.
    pub(crate) fn take(&mut self, is_end: bool) -> Result<Option<Portion>, Unreadable> {
        if self.text.len() - self.start > MOST_ROW_BYTES {
            return Err(Unreadable::TooLong(self.start_line));
        }
        let full =
            self.rows.last().is_some_and(|last| last.end >= PORTION_BYTES || self.rows.len() >= self.most);
        if !full && is_end {
            if self.state == State::Quoted {
                return Err(Unreadable::Unclosed(self.start_line));
            }
            self.end_row(self.text.len(), self.text.len());
        }
        if let Some(long) = self.rows.iter().find(|row| row.end - row.start > MOST_ROW_BYTES) {
            return Err(Unreadable::TooLong(long.line));
        }
        if self.rows.is_empty() || !full && !is_end {
            return Ok(None);
        }
        Ok(Some(self.cut()))
    }

    /// The first row, once it is complete.
    pub(crate) fn take_first(&mut self, is_end: bool) -> Result<Option<String>, Unreadable> {
        if self.rows.is_empty() && self.text.len() - self.start > MOST_ROW_BYTES {
            return Err(Unreadable::TooLong(self.start_line));
        }
        if self.rows.is_empty() && is_end {
            if self.state == State::Quoted {
                return Err(Unreadable::Unclosed(self.start_line));
            }
            self.end_row(self.text.len(), self.text.len());
        }
        if self.rows.is_empty() {
            return Ok(None);
        }
        let first = self.rows.remove(0);
        Ok(Some(self.text[first.start..first.end].to_owned()))
    }

    /// The rows of a portion, with the text up to the end of the last.
    fn cut(&mut self) -> Portion {
        let fits = |(position, row): (usize, &Row)| {
            (position + 1 >= self.most || row.end >= PORTION_BYTES).then_some(position + 1)
        };
        let count = self.rows.iter().enumerate().find_map(fits).unwrap_or(self.rows.len());
        let rest = self.rows.split_off(count);
        let mut rows = std::mem::replace(&mut self.rows, rest);
        let (begin, end) = (rows[0].start, rows[rows.len() - 1].end);
        let text = self.text[begin..end].to_owned();
        self.text.drain(..end);
        for row in &mut rows {
            row.start -= begin;
            row.end -= begin;
        }
        for row in &mut self.rows {
            row.start -= end;
            row.end -= end;
        }
        self.start = self.start.saturating_sub(end);
        self.seen -= end;
        Portion { text, rows }
    }

    fn end_row(&mut self, end: usize, next: usize) {
        let text = &self.text[self.start..end];
        let is_empty = match self.form {
            Form::Csv(_) => text.is_empty(),
            Form::Lines => text.trim_ascii().is_empty(),
        };
        if !is_empty {
            self.rows.push(Row { line: self.start_line, start: self.start, end });
        }
        self.start = next;
        self.state = State::CellStart;
    }

    fn scan(&mut self) {
        let (quotes, delimiter) = match self.form {
            Form::Csv(delimiter) => (true, delimiter),
            Form::Lines => (false, b'\n'),
        };
        while self.seen < self.text.len() {
            let bytes = self.text.as_bytes();
            // The bytes inside of a cell need no closer look.
            let rest = &bytes[self.seen..];
            let skipped = match self.state {
                State::Quoted => memchr::memchr3(b'"', b'\n', b'\r', rest),
                State::Plain if quotes => memchr::memchr3(delimiter, b'\n', b'\r', rest),
                State::Plain => memchr::memchr2(b'\n', b'\r', rest),
                State::CellStart | State::Quote => Some(0),
            };
            let Some(skipped) = skipped else {
                self.after_return &= rest.is_empty();
                self.seen = self.text.len();
                break;
            };
            self.after_return &= skipped == 0;
            let at = self.seen + skipped;
            let byte = bytes[at];
            self.seen = at + 1;
            let ends_line = byte == b'\n' || byte == b'\r' && quotes;
            if byte == b'\r' || byte == b'\n' && !self.after_return {
                // In a file of lines a lone return is nothing but a space.
                self.line += u64::from(byte == b'\n' || quotes);
            }
            self.after_return = byte == b'\r' && quotes;
            self.state = match (self.state, byte) {
                (State::CellStart, b'"') if quotes => State::Quoted,
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) => State::Quoted,
                (State::Quote, b'"') => State::Quoted,
                _ if ends_line => {
                    self.end_row(at, at + 1);
                    self.start_line = self.line;
                    State::CellStart
                }
                (_, byte) if quotes && byte == delimiter => State::CellStart,
                _ => State::Plain,
            };
            if self.start == self.seen {
                // The line feed of a pair belongs to the line before.
                self.start_line = self.line;
            }
        }
    }
}

#[cfg(test)]
mod tests;
