//! The format of an import's response, from the header Accept.

use std::cmp::Reverse;

use axum::http::{HeaderMap, header};

use crate::file::format::Format;
use crate::preference::{weight_of, weighted};
use crate::problem::Problem;

/// The format of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    /// The report.
    Report,
    /// A JSON line for each chunk and each rejected row, then the report.
    Progress,
    /// The rejected rows as CSV.
    RejectedRows,
}

/// The media types of each format, as patterns, the most specific first.
const FORMATS: [(ResponseFormat, &[&str]); 5] = [
    (ResponseFormat::Report, &["application/json", "application/*", "*/*"]),
    (ResponseFormat::Progress, &["application/x-ndjson"]),
    (ResponseFormat::Progress, &["application/ndjson"]),
    (ResponseFormat::Progress, &["application/jsonl"]),
    (ResponseFormat::RejectedRows, &["text/csv"]),
];

/// The format that Accept prefers, the first if weights are equal; the report if it accepts none of them.
pub(crate) fn negotiate(headers: &HeaderMap, format: Format) -> Result<ResponseFormat, Problem> {
    let list = weighted(headers, header::ACCEPT);
    let candidate = |(response_format, patterns): (ResponseFormat, &[&str])| {
        let weight = weight_of(&list, patterns).filter(|weight| *weight > 0)?;
        let index = list.iter().position(|(name, _)| patterns.contains(&name.as_str()))?;
        Some((response_format, (weight, Reverse(index))))
    };
    let best = FORMATS.into_iter().filter_map(candidate).max_by_key(|(_, rank)| *rank);
    match best.map_or(ResponseFormat::Report, |(response_format, _)| response_format) {
        ResponseFormat::RejectedRows if format == Format::Ndjson => {
            Err(Problem::invalid_value("rejected rows are available as CSV only for CSV files")
                .with_hint("Send Accept: application/x-ndjson."))
        }
        response_format => Ok(response_format),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn response_has_the_preferred_media_type() {
        for (accept, response_format) in [
            ("", ResponseFormat::Report),
            ("application/x-ndjson;q=0.1, application/json", ResponseFormat::Report),
            ("application/json;q=0.5, text/csv;q=0.6", ResponseFormat::RejectedRows),
            ("text/csv, application/x-ndjson", ResponseFormat::RejectedRows),
            ("application/x-ndjson;q=0, */*", ResponseFormat::Report),
            ("application/jsonl, */*;q=0.1", ResponseFormat::Progress),
            ("image/png", ResponseFormat::Report),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            let negotiated = negotiate(&headers, Format::Csv).map_err(|problem| problem.status());
            assert_eq!(negotiated, Ok(response_format), "{accept}");
        }
    }
}
