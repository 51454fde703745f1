//! The source of a change, which the history of records shows: the header X-Keyed-Source.
//!
//! The client chooses it. It has no other effect, and must be one of the values below.

use axum::http::{HeaderMap, HeaderName};
use keyed_service::statement::Source;

use crate::header::single;
use crate::problem::Problem;

const NAME: HeaderName = HeaderName::from_static("x-keyed-source");

/// The source in the header of a request.
pub(crate) fn source_of(headers: &HeaderMap) -> Result<Source, Problem> {
    match single(headers, NAME)? {
        None | Some(b"" | b"api") => Ok(Source::Api),
        Some(b"app") => Ok(Source::Application),
        Some(_) => Err(Problem::malformed("the header X-Keyed-Source must be api or app")),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(values: &[&'static [u8]]) -> Result<Source, u16> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(NAME, HeaderValue::from_bytes(value).expect("a header value"));
        }
        source_of(&headers).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn source_is_one_of_the_list() {
        assert_eq!(read(&[]), Ok(Source::Api));
        assert_eq!(read(&[b""]), Ok(Source::Api));
        assert_eq!(read(&[b"api"]), Ok(Source::Api));
        assert_eq!(read(&[b" app "]), Ok(Source::Application));
        for value in [&b"sql"[..], b"csv", b"inbound", b"APP", b"app'", b"app, app", b"\xff"] {
            assert_eq!(read(&[value]), Err(400), "{value:?}");
        }
        assert_eq!(read(&[b"app", b"app"]), Err(400));
    }
}
