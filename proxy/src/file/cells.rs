//! One row of CSV → its cells.

use csv::{ReaderBuilder, StringRecord};

/// The cells of a row; none for an empty row.
pub(crate) fn cells(row: &str, delimiter: u8) -> StringRecord {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(row.as_bytes());
    let mut cells = StringRecord::new();
    // Reading from memory cannot fail.
    let _ = reader.read_record(&mut cells);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_cell_may_contain_delimiter_and_line_break() {
        let row = "1;\"a;b\";\"c\nd\"\r\n";
        assert_eq!(cells(row, b';').iter().collect::<Vec<_>>(), ["1", "a;b", "c\nd"]);
        assert_eq!(cells("", b';').len(), 0);
    }
}
