//! Formats of imported and exported files, and the form of strings and lists in cells. Pure.
//!
//! A written cell reads back unchanged, and no spreadsheet evaluates it as a formula.

use crate::error::{Code, Error};

/// The column, or the member of a line, with the version of a record.
pub const VERSION: &str = "version";

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// CSV with a header.
    Csv,
    /// A JSON object on each line.
    Ndjson,
}

impl FileFormat {
    /// The format of this name.
    pub fn parse(name: &str) -> Result<FileFormat, Error> {
        match name {
            "csv" => Ok(FileFormat::Csv),
            "ndjson" => Ok(FileFormat::Ndjson),
            _ => Err(Error::at(Code::InvalidValue, "/format", format!("{name:?} is not a format"))
                .hint("Use one of the formats csv and ndjson.")),
        }
    }
}

/// The separator of list elements.
pub const SEPARATOR: char = ';';

/// Whether a spreadsheet could evaluate a string as a formula. Such a string is written with a leading `'`.
pub fn looks_like_a_formula(text: &str) -> bool {
    // Spreadsheets also accept the full-width signs, and some skip a line break before them.
    text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n', '\''])
}

/// A string without the leading `'` of a possible formula or of an empty text.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.is_empty() || looks_like_a_formula(rest) => rest,
        _ => cell,
    }
}

/// Appends a list as a cell, with this separator.
pub fn write_list(out: &mut String, list: &[String], separator: char) {
    let is_plain = |element: &String| {
        !element.is_empty()
            && !element.contains(separator)
            && !element.starts_with(' ')
            && !element.ends_with(' ')
    };
    if list.is_empty() || !list.iter().all(is_plain) || list[0].starts_with('[') {
        out.push('[');
        for (position, element) in list.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            crate::json::write_string(out, element);
        }
        out.push(']');
        return;
    }
    if looks_like_a_formula(&list[0]) {
        out.push('\'');
    }
    for (position, element) in list.iter().enumerate() {
        if position > 0 {
            out.push(separator);
        }
        out.push_str(element);
    }
}

/// Appends a string as a cell.
pub fn write_text(out: &mut String, text: &str) {
    if text.is_empty() || looks_like_a_formula(text) {
        out.push('\'');
    }
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_csv_or_ndjson() {
        assert_eq!(FileFormat::parse("csv"), Ok(FileFormat::Csv));
        assert_eq!(FileFormat::parse("ndjson"), Ok(FileFormat::Ndjson));
        for name in ["", "CSV", "json", "csv "] {
            assert_eq!(FileFormat::parse(name).expect_err(name).violations[0].pointer, "/format");
        }
    }
}
