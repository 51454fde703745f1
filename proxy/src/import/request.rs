//! The options of an import, from the query string and Content-Type.

use std::borrow::Cow;

use axum::http::{HeaderMap, Uri};
use encoding_rs::Encoding;
use keyed_write_order::record_filter::RecordFilter;
use serde::Serialize;
use serde_json::value::RawValue;

use super::format::format_of;
use super::response_format::{ResponseFormat, negotiate};
use crate::file::cell_format::cell_format;
use crate::file::format::Format;
use crate::file::sniff::parse_delimiter;
use crate::header::has_gzip;
use crate::problem::Problem;
use crate::query::{flag, parameters};

/// The action if rows are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnError {
    /// Nothing is imported.
    Abort,
    /// The other rows are imported.
    Skip,
}

/// The kind of a database call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    /// Only validates the options, without rows. If another import has locked the template, the database returns the
    /// holder and does not wait.
    Check,
    /// Rows, or an empty chunk.
    Rows,
    /// The last rows.
    Last,
    /// All rows of the file, this many, have been written. Deletes the records that are not in the file.
    End(u64),
}

/// The options of an import.
pub(crate) struct Request {
    pub(crate) format: Format,
    pub(crate) is_gzip: bool,
    pub(crate) response_format: ResponseFormat,
    pub(crate) dry_run: bool,
    /// Whether the report contains the preview.
    pub(crate) has_preview: bool,
    pub(crate) on_error: OnError,
    pub(crate) delimiter: Option<u8>,
    pub(crate) encoding: Option<&'static Encoding>,
    /// The name of the sheet of a spreadsheet; by default, the first.
    pub(crate) sheet: Option<String>,
    /// The format of cells, which the database parses.
    cells: Option<Box<RawValue>>,
    mapping: Option<Box<RawValue>>,
    /// The attributes by which references identify their targets, which the database parses.
    matching: Option<Box<RawValue>>,
    /// The mode, which the database parses.
    mode: Option<String>,
    /// The filter for the records that the file can delete, which the database parses.
    filter: Option<Box<RawValue>>,
    /// The maximum share of these records that it can delete.
    max_deleted_share: Option<f64>,
    key_column: Option<String>,
    key_prefix: Option<String>,
}

/// The format for the database: the name of the file format, or the format of cells.
#[derive(Serialize)]
#[serde(untagged)]
enum FormatOption<'a> {
    Named(&'static str),
    Cells(&'a RawValue),
}

/// The options that are sent to the database with every chunk.
#[derive(Serialize)]
struct Options<'a> {
    format: FormatOption<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delimiter: Option<char>,
    mapping: Option<&'a RawValue>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matching: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_deleted_share: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_after: Option<u64>,
    key_column: Option<&'a str>,
    key_prefix: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suggests: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    previews: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_typed: bool,
    is_whole: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    held: String,
    waits: bool,
    is_last: bool,
}

impl Request {
    /// The format of cells, if the request sets it.
    pub(super) fn cells(&self) -> Option<&RawValue> {
        self.cells.as_deref()
    }

    pub(crate) fn parse(headers: &HeaderMap, uri: &Uri) -> Result<Request, Problem> {
        let accepted = [
            "dry_run",
            "on_error",
            "mapping",
            "key_column",
            "key_prefix",
            "delimiter",
            "encoding",
            "format",
            "sheet",
            "preview",
            "match",
            "mode",
            "filter",
            "max_deleted_share",
        ];
        let [
            dry_run,
            on_error,
            mapping,
            key_column,
            key_prefix,
            delimiter,
            encoding,
            cells,
            sheet,
            preview,
            matching,
            mode,
            filter,
            max_deleted_share,
        ] = parameters(uri, accepted)?;
        let (format, charset) = format_of(headers)?;
        let encoding = match encoding.as_deref().or(charset.as_deref()) {
            None => None,
            Some(label) => Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| {
                Problem::invalid_value(
                    "the encoding is unknown: use utf-8, windows-1252, utf-16le, utf-16be or another name of the \
                    WHATWG Encoding Standard",
                )
            })?),
        };
        let json = |name: &str, example: &str, text: Option<Cow<'_, str>>| match text {
            None => Ok(None),
            Some(text) => serde_json::from_str::<Box<RawValue>>(&text).map(Some).map_err(|_| {
                Problem::malformed(format!(
                    "the query parameter {name:?} is not JSON; an example is {example}"
                ))
            }),
        };
        let mapping = json("mapping", r#"{"Column":"slug"}"#, mapping)?;
        let matching = json("match", r#"{"reference":"string of its target"}"#, matching)?;
        let filter = json("filter", r#"{"filters":[…]}"#, filter)?;
        let max_deleted_share = max_deleted_share.map(|text| share(&text)).transpose()?;
        let cells = cells.map(|cells| cell_format(&cells)).transpose()?;
        if cells.is_some() && format == Format::Ndjson {
            return Err(Problem::invalid_value(
                "the query parameter \"format\" applies only to CSV and XLSX",
            ));
        }
        if sheet.is_some() && format != Format::Xlsx {
            return Err(Problem::invalid_value("the query parameter \"sheet\" applies only to XLSX"));
        }
        let dry_run = flag("dry_run", dry_run)?.unwrap_or(false);
        let has_preview = flag("preview", preview)?.unwrap_or(false);
        if has_preview && (!dry_run || format == Format::Ndjson) {
            return Err(Problem::invalid_value(
                "the query parameter \"preview\" applies only to dry runs of CSV and XLSX",
            ));
        }
        let on_error = match on_error.as_deref() {
            None | Some("abort") => OnError::Abort,
            Some("skip") => OnError::Skip,
            Some(_) => {
                return Err(Problem::invalid_value(
                    "the query parameter \"on_error\" is neither abort nor skip",
                ));
            }
        };
        let response_format = negotiate(headers, format)?;
        if mode.as_deref() == Some(MIRROR) {
            check_mirror(on_error, response_format)?;
        }
        Ok(Request {
            format,
            is_gzip: has_gzip(headers)?,
            response_format,
            dry_run,
            has_preview,
            on_error,
            delimiter: delimiter.as_deref().map(parse_delimiter).transpose()?,
            encoding,
            sheet: sheet.map(Into::into),
            cells,
            mapping,
            matching,
            mode: mode.map(Into::into),
            filter,
            max_deleted_share,
            key_column: key_column.map(Into::into),
            key_prefix: key_prefix.map(Into::into),
        })
    }

    /// Whether all rows are written in one transaction.
    pub(crate) fn is_whole(&self) -> bool {
        self.dry_run || self.on_error == OnError::Abort
    }

    /// Whether records that are not in the file are deleted.
    pub(crate) fn is_mirror(&self) -> bool {
        self.mode.as_deref() == Some(MIRROR)
    }

    /// Renders the options for the database.
    pub(crate) fn options(
        &self,
        header: Option<(&[String], u8)>,
        held: &RecordFilter,
        chunk: ChunkKind,
    ) -> String {
        let options = Options {
            format: match &self.cells {
                Some(cells) => FormatOption::Cells(cells),
                None if self.format == Format::Xlsx => FormatOption::Named(Format::Csv.name()),
                None => FormatOption::Named(self.format.name()),
            },
            header: header.map(|(names, _)| names),
            delimiter: header.map(|(_, delimiter)| char::from(delimiter)),
            mapping: self.mapping.as_deref(),
            matching: self.matching.as_deref(),
            mode: self.mode.as_deref(),
            filter: self.filter.as_deref(),
            max_deleted_share: self.max_deleted_share,
            dry_run: self.is_mirror() && self.dry_run,
            ends_after: if let ChunkKind::End(rows) = chunk { Some(rows) } else { None },
            key_column: self.key_column.as_deref(),
            key_prefix: self.key_prefix.as_deref(),
            suggests: self.dry_run && self.format != Format::Ndjson && self.cells.is_none(),
            previews: self.has_preview,
            is_typed: self.format == Format::Xlsx,
            is_whole: self.is_whole(),
            held: held.to_text(),
            waits: chunk != ChunkKind::Check,
            is_last: chunk == ChunkKind::Last,
        };
        serde_json::to_string(&options).unwrap_or_default()
    }
}

/// The mode that deletes records that are not in the file.
const MIRROR: &str = "mirror";

/// Rejects options with which only a part of a file would be mirrored.
fn check_mirror(on_error: OnError, response_format: ResponseFormat) -> Result<(), Problem> {
    if on_error == OnError::Skip {
        let message = "mode=mirror cannot be combined with on_error=skip: the record of a rejected row would count as missing";
        return Err(Problem::invalid_value(message)
            .with_hint("Remove on_error: the file is then imported completely or not at all."));
    }
    if response_format == ResponseFormat::RejectedRows {
        let message = "mode=mirror does not return rejected rows as CSV: importing them as a separate file would delete all other records";
        return Err(Problem::invalid_value(message)
            .with_hint("Send Accept: application/x-ndjson, and correct the whole file."));
    }
    Ok(())
}

/// Parses a share from 0 to 1.
fn share(text: &str) -> Result<f64, Problem> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        Problem::invalid_value("the query parameter \"max_deleted_share\" must be a number from 0 to 1")
            .with_hint("For example, 0.1 is a tenth of the records.")
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header};

    use super::*;

    fn read(content_type: &str, accept: &str, query: &str) -> Result<Request, u16> {
        let value = |text: &str| HeaderValue::from_str(text).expect("a header value");
        let headers = HeaderMap::from_iter([
            (header::CONTENT_TYPE, value(content_type)),
            (header::ACCEPT, value(accept)),
        ]);
        let uri: Uri = format!("/import?{query}").parse().expect("a URI");
        Request::parse(&headers, &uri).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn content_type_sets_format_and_encoding() {
        let read = |content_type: &str| {
            read(content_type, "", "").map(|it| (it.format, it.encoding.map(Encoding::name)))
        };
        assert_eq!(read("text/csv"), Ok((Format::Csv, None)));
        assert_eq!(
            read("Text/CSV; header=present; charset=\"ISO-8859-1\""),
            Ok((Format::Csv, Some("windows-1252")))
        );
        for json in ["application/x-ndjson", "application/jsonl", "application/json; charset=utf-8"] {
            assert_eq!(read(json).map(|it| it.0), Ok(Format::Ndjson), "{json}");
        }
        assert_eq!(read("text/csv; charset=klingon"), Err(422));
        for other in ["", "application/xml", "text/plain", "multipart/form-data; boundary=x"] {
            assert_eq!(read(other), Err(415), "{other}");
        }
    }

    #[test]
    fn import_is_atomic_by_default() {
        let plain = read("text/csv", "", "").expect("a request");
        assert_eq!(
            (plain.on_error, plain.dry_run, plain.response_format),
            (OnError::Abort, false, ResponseFormat::Report)
        );
        let skipping =
            read("text/csv", "text/html, application/x-ndjson;q=0.9", "on_error=skip").expect("a request");
        assert!(!skipping.is_whole() && skipping.response_format == ResponseFormat::Progress);
        assert!(read("text/csv", "", "on_error=skip&dry_run=true").is_ok_and(|it| it.is_whole()));
    }

    #[test]
    fn delimiter_is_one_character() {
        for (text, byte) in [("%3B", b';'), ("tab", b'\t'), ("%09", b'\t'), ("%7C", b'|'), ("%5Ct", b'\t')] {
            assert_eq!(
                read("text/csv", "", &format!("delimiter={text}")).map(|it| it.delimiter),
                Ok(Some(byte))
            );
        }
        for text in ["", "ab", "a", "%22", "%0A", "%C3%A9"] {
            assert!(read("text/csv", "", &format!("delimiter={text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn unreadable_input_is_rejected() {
        for (query, status) in [
            ("on_error=stop", 422),
            ("mapping=x", 400),
            ("dry_run=2", 422),
            ("modus=upsert", 400),
            ("match=x", 400),
            ("encoding=x", 422),
            ("format=csv", 400),
            ("format=%7B", 400),
            ("preview=true", 422),
            ("mode=mirror&on_error=skip", 422),
            ("mode=mirror&on_error=skip&dry_run=true", 422),
            ("mode=mirror&filter=x", 400),
            ("mode=mirror&max_deleted_share=10%25", 422),
            ("mode=mirror&max_deleted_share=1.01", 422),
            ("mode=mirror&max_deleted_share=-0.1", 422),
            ("mode=mirror&max_deleted_share=NaN", 422),
        ] {
            assert_eq!(read("text/csv", "", query).err(), Some(status), "{query}");
        }
        assert_eq!(read("application/x-ndjson", "text/csv", "").err(), Some(422));
        assert_eq!(read("application/x-ndjson", "", "format=%7B%7D").err(), Some(422));
        assert_eq!(read("text/csv", "text/csv", "mode=mirror&dry_run=true").err(), Some(422));
    }
}
