//! The format of a file, detected from its name, and the format of its cells.

use std::path::Path;

use clap::ValueEnum;

use keyed_proxy::file::format::Format;

/// The value of `--format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatArgument {
    /// The format of the file.
    File(Format),
    /// The format of its cells, as JSON.
    Cells(String),
}

/// Parses `--format`: a name, or an object that the service validates.
pub(super) fn format_argument(text: &str) -> Result<FormatArgument, String> {
    if text.trim_start().starts_with('{') {
        return Ok(FormatArgument::Cells(text.to_owned()));
    }
    let named = <Format as ValueEnum>::from_str(text, false).map(FormatArgument::File);
    let names: Vec<&str> = Format::value_variants().iter().map(|format| format.name()).collect();
    named.map_err(|_| {
        format!(
            "use {}, or the format of values as JSON: {{\"decimal\": \",\", \"date\": \"DD.MM.YYYY\"}}",
            names.join(", ")
        )
    })
}

/// The given formats of the file and of its cells. If one is repeated, the last applies.
pub(super) fn given(arguments: &[FormatArgument]) -> (Option<Format>, Option<&str>) {
    arguments.iter().fold((None, None), |(file, cells), argument| match argument {
        FormatArgument::File(format) => (Some(*format), cells),
        FormatArgument::Cells(json) => (file, Some(json)),
    })
}

/// The given format, otherwise the one that the file extension stands for. The extension .gz is ignored.
pub(super) fn format_of(given: Option<Format>, file: &Path) -> Format {
    let ending_of =
        |file: &Path| file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_owned();
    let ending = match ending_of(file).as_str() {
        "gz" => ending_of(&file.with_extension("")),
        ending => ending.to_owned(),
    };
    given.unwrap_or(match ending.as_str() {
        "ndjson" | "jsonl" | "json" => Format::Ndjson,
        "xlsx" => Format::Xlsx,
        _ => Format::Csv,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_a_name_or_an_object() {
        let cells = FormatArgument::Cells("{}".to_owned());
        assert_eq!(format_argument("{}"), Ok(cells.clone()));
        let file = FormatArgument::File(Format::Ndjson);
        assert_eq!(format_argument("ndjson"), Ok(file.clone()));
        assert!(format_argument("xml").is_err_and(|message| message.contains("csv, ndjson, xlsx")));
        assert_eq!(given(&[file, cells]), (Some(Format::Ndjson), Some("{}")));
    }

    #[test]
    fn file_extension_sets_the_default_format() {
        for (file, format) in [
            ("a.csv", Format::Csv),
            ("a.jsonl", Format::Ndjson),
            ("a.json", Format::Ndjson),
            ("a.ndjson.gz", Format::Ndjson),
            ("a.csv.gz", Format::Csv),
            ("a.xlsx", Format::Xlsx),
            ("a.gz", Format::Csv),
            ("-", Format::Csv),
        ] {
            assert_eq!(format_of(None, Path::new(file)), format, "{file}");
        }
        assert_eq!(format_of(Some(Format::Csv), Path::new("a.ndjson")), Format::Csv);
    }
}
