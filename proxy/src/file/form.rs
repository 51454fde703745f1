//! The format of an exported file, from the query string.

use std::borrow::Cow;

use axum::http::{HeaderMap, header};
use serde_json::json;

use super::cell_format::cell_format;
use super::format::{Format, XLSX};
use super::sniff::parse_delimiter;
use crate::preference::{weight_of, weighted};
use crate::problem::Problem;
use crate::query::flag;

/// The format options of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileForm {
    pub(crate) format: Format,
    /// The format and the delimiter for the database.
    pub(crate) options: String,
    /// Whether the file begins with a byte order mark.
    pub(crate) has_mark: bool,
}

impl FileForm {
    /// Parses the parameters. `format` is the format of the file, or an object for the format of its cells. If it is
    /// not a name, Accept can request XLSX.
    pub(crate) fn parse(
        headers: &HeaderMap,
        format: Option<&str>,
        delimiter: Option<&str>,
        bom: Option<Cow<'_, str>>,
        versions: Option<Cow<'_, str>>,
    ) -> Result<FileForm, Problem> {
        let cells = format.filter(|text| text.trim_start().starts_with('{')).map(cell_format).transpose()?;
        let named = format.filter(|_| cells.is_none());
        let format = match named {
            Some("ndjson") => Format::Ndjson,
            Some("xlsx") => Format::Xlsx,
            None if weight_of(&weighted(headers, header::ACCEPT), &[XLSX])
                .is_some_and(|weight| weight > 0) =>
            {
                Format::Xlsx
            }
            // The database rejects any other name.
            _ => Format::Csv,
        };
        let delimiter = delimiter.map(parse_delimiter).transpose()?;
        let has_mark = flag("bom", bom)?.unwrap_or(false);
        if format != Format::Csv && (has_mark || delimiter.is_some()) {
            let name = if has_mark { "bom" } else { "delimiter" };
            return Err(Problem::invalid_value(format!(
                "the query parameter \"{name}\" applies only to CSV"
            )));
        }
        let options = match (&cells, delimiter) {
            _ if format == Format::Xlsx => {
                let cells = cells.as_ref().map_or("null", |cells| cells.get());
                format!("{{\"format\":{cells},\"is_typed\":true}}")
            }
            (None, None) => named.unwrap_or(Format::Csv.name()).to_owned(),
            (cells, delimiter) => {
                let named = named.unwrap_or(Format::Csv.name());
                let delimiter = json!(delimiter.map(char::from));
                let format =
                    cells.as_ref().map_or_else(|| json!(named).to_string(), |cells| cells.get().to_owned());
                format!("{{\"format\":{format},\"delimiter\":{delimiter}}}")
            }
        };
        let options =
            if flag("versions", versions)? == Some(true) { with_versions(&options) } else { options };
        Ok(FileForm { format, options, has_mark })
    }
}

/// The options, with the versions of the records.
fn with_versions(options: &str) -> String {
    match options.strip_suffix('}') {
        Some(members) => format!("{members},\"versions\":true}}"),
        None => format!("{{\"format\":{},\"versions\":true}}", json!(options)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(format: Option<&str>, delimiter: Option<&str>, bom: Option<&str>) -> Result<FileForm, u16> {
        let form = FileForm::parse(&HeaderMap::new(), format, delimiter, bom.map(Cow::Borrowed), None);
        form.map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn format_is_passed_as_a_name_or_an_object() {
        let options = |format, delimiter| parse(format, delimiter, None).expect("a form").options;
        assert_eq!(options(None, None), "csv");
        assert_eq!(options(Some("ndjson"), None), "ndjson");
        assert_eq!(options(Some("xml"), None), "xml");
        assert_eq!(options(None, Some("tab")), r#"{"format":"csv","delimiter":"\t"}"#);
        assert_eq!(
            options(Some(r#"{"decimal": ","}"#), Some(";")),
            r#"{"format":{"decimal": ","},"delimiter":";"}"#
        );
        assert_eq!(options(Some("{}"), None), r#"{"format":{},"delimiter":null}"#);
        assert_eq!(options(Some("xlsx"), None), r#"{"format":null,"is_typed":true}"#);
    }

    #[test]
    fn versions_are_an_option_of_every_format() {
        let options = |format, versions| {
            FileForm::parse(&HeaderMap::new(), format, None, None, Some(Cow::Borrowed(versions)))
                .expect("a form")
                .options
        };
        assert_eq!(options(None, "true"), r#"{"format":"csv","versions":true}"#);
        assert_eq!(options(Some("ndjson"), "1"), r#"{"format":"ndjson","versions":true}"#);
        assert_eq!(options(Some("xlsx"), "true"), r#"{"format":null,"is_typed":true,"versions":true}"#);
        assert_eq!(options(None, "false"), "csv");
    }

    #[test]
    fn spreadsheet_is_requested_by_format_or_accept() {
        let accept = |value: &'static str| {
            HeaderMap::from_iter([(header::ACCEPT, axum::http::HeaderValue::from_static(value))])
        };
        for (value, format, expected) in [
            (XLSX, None, Format::Xlsx),
            (XLSX, Some(r#"{"time_zone": "UTC"}"#), Format::Xlsx),
            (XLSX, Some("csv"), Format::Csv),
            ("*/*", None, Format::Csv),
            ("text/csv", Some("xlsx"), Format::Xlsx),
        ] {
            let form = FileForm::parse(&accept(value), format, None, None, None);
            assert_eq!(form.map(|form| form.format).ok(), Some(expected), "{value} {format:?}");
        }
        assert_eq!(parse(Some("xlsx"), None, Some("true")), Err(422));
    }

    #[test]
    fn byte_order_mark_and_delimiter_need_csv() {
        assert!(parse(Some("{}"), Some(";"), Some("true")).is_ok_and(|form| form.has_mark));
        assert_eq!(parse(Some("ndjson"), None, Some("true")), Err(422));
        assert_eq!(parse(Some("ndjson"), Some(";"), None), Err(422));
        assert_eq!(parse(Some("{"), None, None), Err(400));
        assert_eq!(parse(None, Some("ab"), None), Err(422));
        assert_eq!(parse(None, None, Some("2")), Err(422));
    }
}
