//! The format of a file, by its name.

use std::path::Path;

use crate::file::format::Format;

/// The format that is given, otherwise that of the file by its name.
pub(super) fn format_of(given: Option<Format>, file: &Path) -> Format {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    given.unwrap_or(match ending {
        "ndjson" | "jsonl" | "json" => Format::Ndjson,
        _ => Format::Csv,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_its_format_unless_another_is_given() {
        for (file, format) in [
            ("a.csv", Format::Csv),
            ("a.jsonl", Format::Ndjson),
            ("a.json", Format::Ndjson),
            ("-", Format::Csv),
        ] {
            assert_eq!(format_of(None, Path::new(file)), format, "{file}");
        }
        assert_eq!(format_of(Some(Format::Csv), Path::new("a.ndjson")), Format::Csv);
    }
}
