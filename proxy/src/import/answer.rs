//! The format of an import's response, from the header Accept.

use std::cmp::Reverse;

use axum::http::{HeaderMap, header};

use crate::file::format::Format;
use crate::preference::{weight_of, weighted};
use crate::problem::Problem;

/// The format of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The report.
    Report,
    /// A JSON line for each chunk and each rejected row, then the report.
    Progress,
    /// The rejected rows as CSV.
    RefusedRows,
}

/// The media types of each format, as patterns, the most specific first.
const ANSWERS: [(Answer, &[&str]); 5] = [
    (Answer::Report, &["application/json", "application/*", "*/*"]),
    (Answer::Progress, &["application/x-ndjson"]),
    (Answer::Progress, &["application/ndjson"]),
    (Answer::Progress, &["application/jsonl"]),
    (Answer::RefusedRows, &["text/csv"]),
];

/// The format that Accept prefers, the first if weights are equal; the report if it accepts none of them.
pub(crate) fn wanted(headers: &HeaderMap, format: Format) -> Result<Answer, Problem> {
    let list = weighted(headers, header::ACCEPT);
    let candidate = |(answer, patterns): (Answer, &[&str])| {
        let weight = weight_of(&list, patterns).filter(|weight| *weight > 0)?;
        let place = list.iter().position(|(name, _)| patterns.contains(&name.as_str()))?;
        Some((answer, (weight, Reverse(place))))
    };
    let best = ANSWERS.into_iter().filter_map(candidate).max_by_key(|(_, rank)| *rank);
    match best.map_or(Answer::Report, |(answer, _)| answer) {
        Answer::RefusedRows if format == Format::Ndjson => {
            Err(Problem::invalid_value("rejected rows are available as CSV only for CSV files")
                .with_hint("Send Accept: application/x-ndjson."))
        }
        answer => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn response_has_the_preferred_media_type() {
        for (accept, answer) in [
            ("", Answer::Report),
            ("application/x-ndjson;q=0.1, application/json", Answer::Report),
            ("application/json;q=0.5, text/csv;q=0.6", Answer::RefusedRows),
            ("text/csv, application/x-ndjson", Answer::RefusedRows),
            ("application/x-ndjson;q=0, */*", Answer::Report),
            ("application/jsonl, */*;q=0.1", Answer::Progress),
            ("image/png", Answer::Report),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            let wanted = wanted(&headers, Format::Csv).map_err(|problem| problem.status());
            assert_eq!(wanted, Ok(answer), "{accept}");
        }
    }
}
