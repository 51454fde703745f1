//! Complete rows of a file with their text, and rows that cannot be sent to the database.

/// A complete row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The line in which it begins, counted from 1.
    pub(crate) line: u64,
    /// Its range in the text, without the line break.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The reason why it cannot be read, if any.
    pub(crate) defect: Option<Defect>,
}

/// Why a row cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// CSV: text follows a closing quote.
    AfterQuote,
    /// CSV: a quoted cell begins in this line and is not closed correctly.
    Unclosed,
    /// The row contains U+0000, which PostgreSQL's text cannot contain.
    Zero,
    /// JSON array: an element is missing between two commas.
    Missing,
    /// JSON array: a string contains a line break.
    LineBreak,
}

/// Complete rows and their text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) text: String,
    pub(crate) rows: Vec<Row>,
}

/// A row that cannot be sent to the database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unsendable {
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) defect: Defect,
}

impl Chunk {
    /// The text of a row.
    pub(crate) fn row(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", |row| &self.text[row.start..row.end])
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, line: u64, text: &str) {
        self.push_with(line, text, None);
    }

    /// Adds a row that may be malformed.
    pub(crate) fn push_with(&mut self, line: u64, text: &str, defect: Option<Defect>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.rows.push(Row { line, start, end: self.text.len(), defect });
        self.text.push('\n');
    }

    /// Separates the rows that cannot be sent to the database.
    pub(crate) fn sendable(self) -> (Chunk, Vec<Unsendable>) {
        let has_zero = memchr::memchr(0, self.text.as_bytes()).is_some();
        if !has_zero && self.rows.iter().all(|row| row.defect.is_none()) {
            return (self, Vec::new());
        }
        let (mut kept, mut rejected) = (Chunk::default(), Vec::new());
        for (position, row) in self.rows.iter().enumerate() {
            let text = self.row(position);
            match row.defect.or_else(|| text.contains('\0').then_some(Defect::Zero)) {
                Some(defect) => rejected.push(Unsendable { line: row.line, text: text.to_owned(), defect }),
                None => kept.push(row.line, text),
            }
        }
        (kept, rejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn row_that_cannot_be_sent_is_reported(
            lines in prop::collection::vec(("[a\\x00é]{0,3}", any::<bool>()), 0..8),
        ) {
            let mut chunk = Chunk::default();
            for (index, (line, is_bad)) in lines.iter().enumerate() {
                chunk.push_with(index as u64, line, is_bad.then_some(Defect::AfterQuote));
            }
            let (kept, rejected) = chunk.sendable();
            prop_assert!(!kept.text.contains('\0') && kept.rows.len() + rejected.len() == lines.len());
            prop_assert!(kept.rows.iter().enumerate().all(|(at, row)| kept.row(at) == lines[row.line as usize].0));
            for row in rejected {
                let (line, is_bad) = &lines[row.line as usize];
                prop_assert_eq!(&row.text, line);
                prop_assert_eq!(row.defect, if *is_bad { Defect::AfterQuote } else { Defect::Zero });
            }
        }
    }
}
