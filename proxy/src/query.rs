//! Strict parsing of path and query string: invalid input is rejected, never corrected or ignored.

use std::borrow::Cow;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Uri;
use axum::http::request::Parts;
use percent_encoding::percent_decode;

use crate::problem::Problem;

/// The path parameters, in order.
pub(crate) struct Segments<const N: usize>(pub(crate) [String; N]);

impl<S: Send + Sync, const N: usize> FromRequestParts<S> for Segments<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let values = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::malformed("the path is not UTF-8"))?;
        let mut values = values.iter().map(|(_, value)| without_zero(Cow::Borrowed(value)).into_owned());
        Ok(Segments(std::array::from_fn(|_| values.next().unwrap_or_default())))
    }
}

/// The path prefix of a request, which is repeated in URLs of its response.
#[derive(Clone, Copy)]
pub(crate) struct Prefix(pub(crate) &'static str);

impl<S: Sync> FromRequestParts<S> for Prefix {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Prefix(if parts.uri.path().starts_with("/api/") { "/api/v1" } else { "/v1" }))
    }
}

/// A parameter of all routes about records: see [`crate::numbers`].
pub(crate) const NUMBERS: &str = "numbers";

/// Whether a path belongs to a route about records.
pub(crate) fn takes_numbers(uri: &Uri) -> bool {
    let path = uri.path();
    let path = path.strip_prefix("/api").unwrap_or(path);
    path.starts_with("/v1/entities/") || path == "/v1/changes"
}

/// The value of a parameter that [`parameters`] ignores.
pub(crate) fn parameter<'a>(uri: &'a Uri, expected: &str) -> Result<Option<Cow<'a, str>>, Problem> {
    let mut found = None;
    for pair in pairs(uri) {
        let (name, value) = pair?;
        if name == expected && found.replace(decode(value)?).is_some() {
            return Err(more_than_once(expected));
        }
    }
    Ok(found)
}

/// The decoded names and the encoded values of the query string.
fn pairs(uri: &Uri) -> impl Iterator<Item = Result<(Cow<'_, str>, &str), Problem>> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decode(name)?, value))
    })
}

/// The maximum length of a parameter name in a message.
const MAX_NAMED: usize = 100;

fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_NAMED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

fn more_than_once(name: &str) -> Problem {
    Problem::malformed(format!("the query parameter \"{name}\" is given more than once"))
}

/// The values of the accepted parameters, in the order of `names`. Unknown and repeated names are rejected, so that a
/// typo does not silently change the request.
pub(crate) fn parameters<'a, const N: usize>(
    uri: &'a Uri,
    accepted: [&str; N],
) -> Result<[Option<Cow<'a, str>>; N], Problem> {
    let mut values = [const { None }; N];
    for pair in pairs(uri) {
        let (name, value) = pair?;
        if name == NUMBERS && takes_numbers(uri) {
            continue;
        }
        let Some(index) = accepted.iter().position(|candidate| *candidate == name) else {
            let numbers = takes_numbers(uri).then_some(NUMBERS);
            let accepted: Vec<&str> = accepted.into_iter().chain(numbers).collect();
            let accepted = match accepted.as_slice() {
                [] => "this path has no query parameters".to_owned(),
                accepted => format!("this path accepts {}", accepted.join(", ")),
            };
            return Err(Problem::malformed(format!(
                "the query parameter \"{}\" is unknown: {accepted}",
                shortened(&name)
            )));
        };
        if values[index].replace(decode(value)?).is_some() {
            return Err(more_than_once(&name));
        }
    }
    Ok(values)
}

/// Decodes `+` and `%XX`, and rejects invalid UTF-8.
fn decode(text: &str) -> Result<Cow<'_, str>, Problem> {
    if !text.contains(['%', '+']) {
        return Ok(Cow::Borrowed(text));
    }
    let complete = text.split('%').skip(1).all(|rest| {
        matches!(rest.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
    });
    if !complete {
        return Err(Problem::malformed("the query string has a % without two hexadecimal digits"));
    }
    let spaced = text.replace('+', " ");
    match percent_decode(spaced.as_bytes()).decode_utf8() {
        Ok(decoded) => Ok(without_zero(Cow::Owned(decoded.into_owned()))),
        Err(_) => Err(Problem::malformed("the query string does not decode to UTF-8")),
    }
}

/// Replaces U+0000, which cannot be sent to PostgreSQL, with another control character. No key, slug or id contains
/// either, so the database returns its usual error.
fn without_zero(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{1}")) } else { text }
}

/// Parses `true` or `1`, `false` or `0`, case-insensitively.
pub(crate) fn flag(name: &str, value: Option<Cow<'_, str>>) -> Result<Option<bool>, Problem> {
    let Some(value) = value else { return Ok(None) };
    let is = |words: [&str; 2]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match (is(["true", "1"]), is(["false", "0"])) {
        (true, _) => Ok(Some(true)),
        (_, true) => Ok(Some(false)),
        _ => Err(Problem::invalid_value(format!(
            "the query parameter \"{name}\" must be true (1) or false (0)"
        ))),
    }
}

/// Whether `return=record` asks for the written record.
pub(crate) fn returns_record(value: Option<Cow<'_, str>>) -> Result<bool, Problem> {
    match value.as_deref() {
        None => Ok(false),
        Some("record") => Ok(true),
        Some(_) => {
            Err(Problem::invalid_value("the query parameter \"return\" accepts only the value record"))
        }
    }
}

/// Parses a whole number. The database checks its range.
pub(crate) fn number(name: &str, value: Option<Cow<'_, str>>) -> Result<Option<i32>, Problem> {
    value
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| Problem::invalid_value(format!("the query parameter \"{name}\" is not a whole number")))
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use proptest::prelude::*;

    use super::*;

    fn key(query: &str) -> Result<Option<String>, StatusCode> {
        let uri: Uri = format!("/by-key?{query}").parse().expect("a URI");
        match parameters(&uri, ["key", "verbose"]) {
            Ok([key, _]) => Ok(key.map(Cow::into_owned)),
            Err(problem) => Err(problem.status()),
        }
    }

    #[test]
    fn keys_arrive_byte_for_byte() {
        for (query, expected) in [
            ("key=crm:1/a", "crm:1/a"),
            ("key=a%20b+c%2Bd", "a b c+d"),
            ("key=a%26b%3Dc=d", "a&b=c=d"),
            ("key=%C3%A9", "é"),
            ("key=e%CC%81", "e\u{301}"),
            ("key=", ""),
            ("&key=x&", "x"),
            ("k%65y=x", "x"),
        ] {
            assert_eq!(key(query), Ok(Some(expected.to_owned())), "{query}");
        }
        assert_eq!(key("verbose=true"), Ok(None));
    }

    #[test]
    fn invalid_utf8_is_malformed() {
        for query in ["key=%FF", "key=%C0%80", "key=%ED%A0%80", "key=%", "key=%4", "key=%G1", "key=%%41"] {
            assert_eq!(key(query), Err(StatusCode::BAD_REQUEST), "{query}");
        }
    }

    #[test]
    fn unknown_or_repeated_parameter_is_malformed() {
        for query in ["kye=1", "key=1&key=1", "key=1&x", "Key=1"] {
            assert_eq!(key(query), Err(StatusCode::BAD_REQUEST), "{query}");
        }
    }

    #[test]
    fn flags_and_numbers_are_read_strictly() {
        let value = |text: &'static str| Some(Cow::Borrowed(text));
        for text in ["true", "TRUE", "True", "1"] {
            assert_eq!(flag("verbose", value(text)).ok(), Some(Some(true)), "{text}");
        }
        for text in ["false", "FALSE", "0"] {
            assert_eq!(flag("verbose", value(text)).ok(), Some(Some(false)), "{text}");
        }
        assert_eq!(flag("verbose", None).ok(), Some(None));
        for text in ["", "t", "2", "01", "yes", " true"] {
            assert!(flag("verbose", value(text)).is_err(), "{text}");
        }
        assert_eq!(number("limit", value("-1")).ok(), Some(Some(-1)));
        for text in ["", "x", "1.0", "1e3", "99999999999"] {
            assert!(number("limit", value(text)).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn encoded_key_round_trips(text in any::<String>().prop_map(|it| it.replace('\0', "")), spaces_as_plus in any::<bool>()) {
            let encoded = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
            let encoded = if spaces_as_plus { encoded.replace("%20", "+") } else { encoded };
            prop_assert_eq!(key(&format!("key={encoded}")), Ok(Some(text)));
        }

        #[test]
        fn any_query_string_is_valid_or_malformed(query in "([!-~]|%[0-9A-F]{2}|key=|verbose=|&){0,30}") {
            let Ok(uri) = format!("/by-key?{query}").parse::<Uri>() else { return Ok(()) };
            match parameters(&uri, ["key", "verbose"]) {
                Ok(values) => prop_assert!(values.iter().flatten().all(|value| !value.contains('\0'))),
                Err(problem) => prop_assert_eq!(problem.status(), StatusCode::BAD_REQUEST),
            }
        }
    }
}
