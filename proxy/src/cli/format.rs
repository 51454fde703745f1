//! The format of a file, by its name.

use std::path::Path;

use crate::file::format::Format;

/// The format that is given, otherwise that of the file by its name. The ending .gz says nothing of it.
pub(super) fn format_of(given: Option<Format>, file: &Path) -> Format {
    let ending_of =
        |file: &Path| file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_owned();
    let ending = match ending_of(file).as_str() {
        "gz" => ending_of(&file.with_extension("")),
        ending => ending.to_owned(),
    };
    given.unwrap_or(match ending.as_str() {
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
            ("a.ndjson.gz", Format::Ndjson),
            ("a.csv.gz", Format::Csv),
            ("a.gz", Format::Csv),
            ("-", Format::Csv),
        ] {
            assert_eq!(format_of(None, Path::new(file)), format, "{file}");
        }
        assert_eq!(format_of(Some(Format::Csv), Path::new("a.ndjson")), Format::Csv);
    }
}
