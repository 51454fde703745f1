//! The format of a file, from its Content-Type.

use axum::http::{HeaderMap, header};

use crate::file::format::{Format, XLSX};
use crate::problem::Problem;

/// The format and the declared encoding in the headers.
pub(super) fn format_of(headers: &HeaderMap) -> Result<(Format, Option<String>), Problem> {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let format = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
        XLSX => Format::Xlsx,
        "text/csv" | "text/tab-separated-values" => Format::Csv,
        // An array is detected by its opening bracket, regardless of the media type.
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/json" => {
            Format::Ndjson
        }
        _ => {
            return Err(Problem::unsupported_media_type(
                "the body's Content-Type must be text/csv, application/x-ndjson, application/json or that of XLSX",
            )
            .with_hint(&format!("For a spreadsheet, send Content-Type: {XLSX}.")));
        }
    };
    let charset = parts.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    Ok((format, charset))
}
