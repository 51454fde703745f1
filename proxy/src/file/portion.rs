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
    pub(crate) fault: Option<Fault>,
}

/// Why a row cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
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
pub(crate) struct Portion {
    pub(crate) text: String,
    pub(crate) rows: Vec<Row>,
}

/// A row that cannot be sent to the database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unsendable {
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) fault: Fault,
}

impl Portion {
    /// The text of a row.
    pub(crate) fn row(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", |row| &self.text[row.start..row.end])
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, line: u64, text: &str) {
        self.push_with(line, text, None);
    }

    /// Adds a row that may be malformed.
    pub(crate) fn push_with(&mut self, line: u64, text: &str, fault: Option<Fault>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.rows.push(Row { line, start, end: self.text.len(), fault });
        self.text.push('\n');
    }

    /// Separates the rows that cannot be sent to the database.
    pub(crate) fn sendable(self) -> (Portion, Vec<Unsendable>) {
        let has_zero = memchr::memchr(0, self.text.as_bytes()).is_some();
        if !has_zero && self.rows.iter().all(|row| row.fault.is_none()) {
            return (self, Vec::new());
        }
        let (mut kept, mut refused) = (Portion::default(), Vec::new());
        for (position, row) in self.rows.iter().enumerate() {
            let text = self.row(position);
            match row.fault.or_else(|| text.contains('\0').then_some(Fault::Zero)) {
                Some(fault) => refused.push(Unsendable { line: row.line, text: text.to_owned(), fault }),
                None => kept.push(row.line, text),
            }
        }
        (kept, refused)
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
            let mut portion = Portion::default();
            for (index, (line, is_bad)) in lines.iter().enumerate() {
                portion.push_with(index as u64, line, is_bad.then_some(Fault::AfterQuote));
            }
            let (kept, refused) = portion.sendable();
            prop_assert!(!kept.text.contains('\0') && kept.rows.len() + refused.len() == lines.len());
            prop_assert!(kept.rows.iter().enumerate().all(|(at, row)| kept.row(at) == lines[row.line as usize].0));
            for row in refused {
                let (line, is_bad) = &lines[row.line as usize];
                prop_assert_eq!(&row.text, line);
                prop_assert_eq!(row.fault, if *is_bad { Fault::AfterQuote } else { Fault::Zero });
            }
        }
    }
}
