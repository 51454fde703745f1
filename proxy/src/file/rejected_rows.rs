//! The CSV file of rejected rows, each with the reason in an additional cell. It can be corrected and imported again.

use csv::WriterBuilder;
use encoding_rs::{Encoding, UTF_8};

use super::cells::cells;
use super::rows::is_malformed;

/// The column of the reason. Imports ignore it.
const REASON: &str = "import_error";

/// The byte order mark of a file of rejected rows, which is UTF-8. If the imported file has another declared encoding,
/// the mark overrides that encoding when the same command imports the rejected rows.
pub fn byte_order_mark(declared: Option<&'static Encoding>) -> &'static str {
    if declared.is_none_or(|encoding| encoding == UTF_8) { "" } else { "\u{feff}" }
}

/// Writes rejected rows.
pub struct RejectedRows {
    delimiter: u8,
    byte_order_mark: &'static str,
    /// The column of an earlier reason, which the new reason replaces.
    earlier_reason: Option<usize>,
}

impl RejectedRows {
    /// A writer for a file with these columns and this declared encoding.
    pub fn new(header: &[String], delimiter: u8, declared: Option<&'static Encoding>) -> RejectedRows {
        let earlier_reason = header.iter().position(|name| name == REASON);
        RejectedRows { delimiter, byte_order_mark: byte_order_mark(declared), earlier_reason }
    }

    /// The header line.
    pub fn header(&self, header: &[String]) -> Vec<u8> {
        let line = self.line(header.iter().map(String::as_str), REASON);
        [self.byte_order_mark.as_bytes(), &line].concat()
    }

    /// The line of a rejected row.
    pub fn row(&self, row: &str, reason: &str) -> Vec<u8> {
        if is_malformed(row, self.delimiter) {
            return self.malformed(row, reason);
        }
        self.line(cells(row, self.delimiter).iter(), reason)
    }

    /// The line of a row with invalid quotes, which cannot be split into cells: its text and the reason. The quote
    /// before the reason closes an open cell and is followed by text, so the line is rejected again unless it is
    /// corrected.
    fn malformed(&self, row: &str, reason: &str) -> Vec<u8> {
        let delimiter = char::from(self.delimiter);
        let earlier = self.earlier_reason.and_then(|_| row.rfind(&format!("{delimiter}\"line ")));
        let row = &row[..earlier.unwrap_or(row.len())];
        format!("{row}{delimiter}\"{}\"\n", reason.replace('"', "\"\"")).into_bytes()
    }

    fn line<'a>(&self, cells: impl Iterator<Item = &'a str>, reason: &'a str) -> Vec<u8> {
        let others = cells.enumerate().filter(|(position, _)| Some(*position) != self.earlier_reason);
        let mut writer =
            WriterBuilder::new().delimiter(self.delimiter).flexible(true).from_writer(Vec::new());
        // Writing to memory cannot fail.
        let _ = writer.write_record(others.map(|(_, cell)| cell).chain([reason]));
        writer.into_inner().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(header: &str, row: &str) -> String {
        let header: Vec<String> = cells(header, b';').iter().map(str::to_owned).collect();
        let rows = RejectedRows::new(&header, b';', None);
        let bytes = [rows.header(&header), rows.row(row, "line 2: too long; shorten it")].concat();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn rejected_row_ends_with_the_reason() {
        assert_eq!(
            written("No;Name", "1;\"a;\"\"b\"\"\"\n"),
            "No;Name;import_error\n1;\"a;\"\"b\"\"\";\"line 2: too long; shorten it\"\n"
        );
    }

    #[test]
    fn reason_replaces_the_previous_one() {
        assert_eq!(
            written("import_error;No", "wrong;1\r\n"),
            "No;import_error\n1;\"line 2: too long; shorten it\"\n"
        );
    }

    #[test]
    fn row_with_invalid_quotes_is_returned_unchanged() {
        for row in ["1;\"Say \"hi\" now\"", "1;\"5\"\" pipe", "1;\"", "1;\"\"\""] {
            let reason = "line 2: text follows a closing quote: write \"\" within";
            let text = String::from_utf8(RejectedRows::new(&[], b';', None).row(row, reason)).expect("text");
            assert_eq!(
                text,
                format!("{row};\"line 2: text follows a closing quote: write \"\"\"\" within\"\n")
            );
            assert!(is_malformed(text.trim_end(), b';'), "{text}");
            // If it is rejected again, only the last reason remains.
            let header = ["No", "Name", "import_error"].map(str::to_owned);
            let again = RejectedRows::new(&header, b';', None).row(text.trim_end(), reason);
            assert_eq!(String::from_utf8(again), Ok(text));
        }
    }

    #[test]
    fn row_may_have_fewer_cells_than_the_header() {
        assert_eq!(written("No;Name", "1"), "No;Name;import_error\n1;\"line 2: too long; shorten it\"\n");
    }
}
