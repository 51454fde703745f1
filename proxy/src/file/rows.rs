//! Text → whole rows, in portions. Where a row ends is all that is looked for here: what its cells are, the database
//! reads.

/// The most bytes of one row.
pub(crate) const MOST_ROW_BYTES: usize = 4 << 20;
/// A portion ends with the row that makes it so long, or so many, unless another number is asked for.
const PORTION_BYTES: usize = 1 << 20;
pub(crate) const PORTION_ROWS: usize = 2000;

/// What rows look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// CSV, with this delimiter: a row ends with its line unless a quoted cell goes on.
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
    /// Where in the text it stands, without the end of its line.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Whole rows and the text they stand in.
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

    /// Whether it is as large as portions get.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= PORTION_ROWS || self.text.len() >= PORTION_BYTES
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

/// Cuts a text that comes in pieces into rows.
pub(crate) struct Rows {
    form: Form,
    /// How many rows a portion has.
    most: usize,
    state: State,
    /// What is not yet given out: whole rows, and the beginning of one.
    text: String,
    /// How far it was looked at.
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

    /// Portions have so many rows from now on.
    pub(crate) fn set_most(&mut self, rows: usize) {
        self.most = rows;
    }

    /// The line that was read last.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Lets the next piece of the text be appended, and looks at it.
    pub(crate) fn extend<E>(&mut self, append: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        let appended = append(&mut self.text);
        self.scan();
        appended
    }

    /// Whole rows: a portion of them, or with `is_end` all that are left. None when there are too few.
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

    /// The first row, as soon as it is there.
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

    /// So many rows as make a portion, with the text up to the end of the last.
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
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The rows of a text that comes in pieces of so many characters, with their lines.
    fn rows(form: Form, text: &str, size: usize) -> Result<Vec<(u64, String)>, Unreadable> {
        let (mut rows, mut found) = (Rows::new(form), Vec::new());
        let characters: Vec<char> = text.chars().collect();
        let mut keep = |portion: Option<Portion>| {
            for (position, row) in portion.iter().flat_map(|portion| portion.rows.iter().enumerate()) {
                found.push((row.line, portion.as_ref().map_or("", |it| it.row(position)).to_owned()));
            }
        };
        for piece in characters.chunks(size) {
            let piece: String = piece.iter().collect();
            let appended: Result<(), Infallible> = rows.extend(|text| {
                text.push_str(&piece);
                Ok(())
            });
            assert!(appended.is_ok());
            keep(rows.take(false)?);
        }
        while let Some(portion) = rows.take(true)? {
            keep(Some(portion));
        }
        Ok(found)
    }

    fn all(form: Form, text: &str) -> Vec<(u64, String)> {
        let whole = rows(form, text, 1000).expect("rows");
        for size in [1, 2, 3] {
            assert_eq!(rows(form, text, size).as_ref(), Ok(&whole), "{text:?} by {size}");
        }
        whole
    }

    fn csv(text: &str) -> Vec<(u64, String)> {
        all(Form::Csv(b','), text)
    }

    fn told(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
        rows.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    }

    #[test]
    fn a_row_ends_with_its_line_unless_a_quoted_cell_goes_on() {
        assert_eq!(csv("a,b\nc,d"), told(&[(1, "a,b"), (2, "c,d")]));
        assert_eq!(csv("a,\"b\nb\"\nc"), told(&[(1, "a,\"b\nb\""), (3, "c")]));
        assert_eq!(csv("\"a\"\"\n\"\"\",x\nc\n"), told(&[(1, "\"a\"\"\n\"\"\",x"), (3, "c")]));
        assert_eq!(csv("a\"b\nc\n"), told(&[(1, "a\"b"), (2, "c")]));
        assert_eq!(csv("\"a\"b\nc"), told(&[(1, "\"a\"b"), (2, "c")]));
    }

    #[test]
    fn lines_end_in_every_way_and_empty_ones_are_no_rows() {
        assert_eq!(csv("a\r\nb\rc\n\n\r\nd"), told(&[(1, "a"), (2, "b"), (3, "c"), (6, "d")]));
        assert_eq!(csv("\"a\r\nb\"\r\nc"), told(&[(1, "\"a\r\nb\""), (3, "c")]));
        assert_eq!(csv("\n\n"), told(&[]));
        assert_eq!(
            all(Form::Lines, "{\"a\":\"\\\"\"}\r\n \n\n{}\n"),
            told(&[(1, "{\"a\":\"\\\"\"}\r"), (4, "{}")])
        );
    }

    #[test]
    fn what_cannot_end_is_refused_with_the_line_it_began_in() {
        assert_eq!(rows(Form::Csv(b','), "a\n\"b,c\nd\n", 3), Err(Unreadable::Unclosed(2)));
        let long = "x".repeat(MOST_ROW_BYTES + 1);
        assert_eq!(rows(Form::Csv(b','), &format!("a\n{long}"), 1 << 20), Err(Unreadable::TooLong(2)));
        assert_eq!(
            rows(Form::Csv(b','), &format!("a\n\"{long}\n\"\nb"), 1 << 20),
            Err(Unreadable::TooLong(2))
        );
        assert_eq!(rows(Form::Lines, &long, 1 << 20), Err(Unreadable::TooLong(1)));
    }

    #[test]
    fn portions_end_with_a_row() {
        let text: String = (0..5000).map(|number| format!("{number},é\n")).collect();
        let mut rows = Rows::new(Form::Csv(b','));
        let appended: Result<(), Infallible> = rows.extend(|it| {
            it.push_str(&text);
            Ok(())
        });
        assert!(appended.is_ok());
        let mut sizes = Vec::new();
        while let Ok(Some(portion)) = rows.take(true) {
            sizes.push(portion.rows.len());
            assert_eq!(portion.row(0), format!("{},é", portion.rows[0].line - 1));
        }
        assert_eq!(sizes, [2000, 2000, 1000]);
    }

    #[test]
    fn how_many_rows_a_portion_has_can_change_on_the_way() {
        let mut rows = Rows::new(Form::Lines);
        let appended: Result<(), Infallible> = rows.extend(|it| {
            it.push_str(&"{}\n".repeat(100));
            Ok(())
        });
        assert!(appended.is_ok());
        let sizes: Vec<usize> = [3, 50, 1, 1000]
            .into_iter()
            .map(|most| {
                rows.set_most(most);
                rows.take(true).ok().flatten().map_or(0, |portion| portion.rows.len())
            })
            .collect();
        assert_eq!(sizes, [3, 50, 1, 46]);
    }

    /// Texts of the characters that matter, by a generator with a fixed seed.
    fn random_texts() -> impl Iterator<Item = String> {
        let mut random = fastrand::Rng::with_seed(7);
        let characters = ['a', '"', ',', '\n', '\r', 'é', '"', ','];
        (0..20_000).map(move |_| {
            let length = random.usize(..14);
            (0..length).map(|_| characters[random.usize(..characters.len())]).collect()
        })
    }

    #[test]
    fn rows_are_those_of_the_reader_in_the_database() {
        for text in random_texts() {
            let Ok(found) = rows(Form::Csv(b','), &text, 3) else { continue };
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            let expected: Vec<csv::StringRecord> =
                reader.records().map(|record| record.expect("UTF-8")).collect();
            let read = |row: &str| {
                let reader =
                    csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(row.as_bytes());
                reader.into_records().map(|record| record.expect("UTF-8")).collect::<Vec<_>>()
            };
            let found: Vec<csv::StringRecord> = found.iter().flat_map(|(_, row)| read(row)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
