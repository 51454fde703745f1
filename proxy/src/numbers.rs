//! The representation of numbers in a request and its response: JSON numbers, or with `numbers=string`, strings, for
//! clients whose numbers lose digits, such as JavaScript.

/// Quotes the numbers of values in JSON.
mod quoting;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Uri, header};
use axum::response::Response;
use futures_util::StreamExt as _;
use hyper::body::Body as _;
use tokio::task::spawn_blocking;

use crate::problem::Problem;
use crate::query;
use quoting::Quoting;

/// A larger response is converted on a blocking thread.
const MAX_INLINE: usize = 256 << 10;

/// The representation of numbers in the values of a request and its response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Numbers {
    /// As JSON numbers.
    #[default]
    Json,
    /// As strings with every digit. A request may contain both.
    Strings,
}

impl Numbers {
    /// Reads the parameter. Only routes about records have it.
    pub(crate) fn of(uri: &Uri) -> Result<Numbers, Problem> {
        if !query::takes_numbers(uri) {
            return Ok(Numbers::Json);
        }
        match query::parameter(uri, query::NUMBERS)?.as_deref() {
            None => Ok(Numbers::Json),
            Some("string") => Ok(Numbers::Strings),
            Some(other) => Err(Problem::invalid_value(format!(
                "the query parameter \"numbers\" is {other:?}: it may only be string"
            ))),
        }
    }

    /// Converts the numbers of a JSON text.
    pub(crate) fn write_text(self, text: String) -> String {
        if self == Numbers::Json {
            return text;
        }
        let mut out = Vec::new();
        Quoting::default().write(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap_or(text)
    }

    /// Converts the numbers of a response. It must not be compressed yet.
    pub(crate) async fn write(self, response: Response) -> Response {
        let headers = response.headers();
        let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
            ["application/json", "application/x-ndjson"]
                .iter()
                .any(|name| kind.as_bytes().starts_with(name.as_bytes()))
        });
        if self == Numbers::Json || !is_json || headers.contains_key(header::CONTENT_ENCODING) {
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let mut quoting = Quoting::default();
        let mut quoted = move |piece: &[u8]| {
            let mut out = Vec::new();
            quoting.write(piece, &mut out);
            Bytes::from(out)
        };
        let body = match body.size_hint().exact() {
            Some(_) => match to_bytes(body, usize::MAX).await {
                // The threads that serve lookups do no work proportional to the size of a response.
                Ok(whole) if whole.len() > MAX_INLINE => {
                    Body::from(spawn_blocking(move || quoted(&whole)).await.unwrap_or_default())
                }
                Ok(whole) => Body::from(quoted(&whole)),
                Err(error) => Body::from_stream(futures_util::stream::once(async { Err::<Bytes, _>(error) })),
            },
            None => {
                Body::from_stream(body.into_data_stream().map(move |piece| piece.map(|piece| quoted(&piece))))
            }
        };
        parts.headers.remove(header::CONTENT_LENGTH);
        Response::from_parts(parts, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_parameter_turns_numbers_into_strings() {
        let read = |address: &str| {
            let uri: Uri = address.parse().expect("an address");
            Numbers::of(&uri).map_err(|problem| problem.status().as_u16())
        };
        let record = "/v1/entities/1";
        for address in ["", "?", "?key=numbers", "?numbersx=string"] {
            assert_eq!(read(&format!("{record}{address}")), Ok(Numbers::Json), "{address}");
        }
        assert_eq!(read("/v1/templates/a?numbers=string"), Ok(Numbers::Json));
        assert_eq!(read("/v1/changes?numbers=string"), Ok(Numbers::Strings));
        for address in ["?numbers=string", "?key=1&n%75mbers=st%72ing"] {
            assert_eq!(read(&format!("{record}{address}")), Ok(Numbers::Strings), "{address}");
            assert_eq!(read(&format!("/api{record}{address}")), Ok(Numbers::Strings), "{address}");
        }
        assert_eq!(read(&format!("{record}?numbers=String")), Err(422));
        assert_eq!(read(&format!("{record}?numbers=")), Err(422));
        assert_eq!(read(&format!("{record}?numbers=string&numbers=string")), Err(400));
    }
}
