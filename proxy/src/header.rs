//! Strict parsing of headers.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Version, header};

use crate::problem::Problem;

/// The value of an optional header. Repeated headers are rejected, because other programs could use another value.
pub(crate) fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&[u8]>, Problem> {
    let mut values = headers.get_all(&name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Problem::malformed(format!("the header {name} is given more than once")));
    }
    Ok(first.map(|value| value.as_bytes().trim_ascii()))
}

/// The value as text.
pub(crate) fn single_text(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Problem> {
    let rejection = || Problem::malformed(format!("the header {name} is not plain ASCII"));
    let Some(value) = single(headers, name.clone())? else { return Ok(None) };
    let is_plain = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    std::str::from_utf8(value).ok().filter(|_| is_plain).map(Some).ok_or_else(rejection)
}

/// The headers that determine how a request is interpreted. If one is repeated, another program on the path could have
/// used the other value.
const SINGLE_HEADERS: [HeaderName; 7] = [
    header::HOST,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::AUTHORIZATION,
    header::EXPECT,
    header::TRANSFER_ENCODING,
];

/// Rejects a request head that a program on the path could have interpreted differently (RFC 9112, sections 3.2 and
/// 6.1): without a valid Host, with a repeated header, or with an ambiguous body length. If there is a
/// Transfer-Encoding, hyper has already dropped the Content-Length, because the former takes precedence (section 6.3).
pub(crate) fn require_unambiguous(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    // Most requests repeat no header.
    if headers.len() > headers.keys_len() {
        for name in SINGLE_HEADERS {
            single(headers, name)?;
        }
    }
    match headers.get(header::HOST) {
        None if version >= Version::HTTP_11 => return Err(Problem::malformed("the header Host is missing")),
        Some(host) if !host.is_empty() && !is_host(host.as_bytes()) => {
            return Err(Problem::malformed("the header Host is not a host with an optional port"));
        }
        _ => {}
    }
    match headers.get(header::TRANSFER_ENCODING).map(|coding| coding.as_bytes().trim_ascii()) {
        Some(coding) if !coding.eq_ignore_ascii_case(b"chunked") => {
            Err(Problem::malformed("the only supported Transfer-Encoding is chunked"))
        }
        _ => Ok(()),
    }
}

/// Whether this is a host with an optional port.
fn is_host(host: &[u8]) -> bool {
    let authority = Authority::try_from(host);
    authority.is_ok_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty())
}

/// Rejects a compressed body. It could decompress to any size, and these bodies are too small to need compression.
pub(crate) fn require_uncompressed(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if !encoding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Problem::unsupported_media_type("the body must not have a Content-Encoding"))
        }
        _ => Ok(()),
    }
}

/// Whether a file is compressed with gzip. It is decompressed as a stream, so its size does not matter.
pub(crate) fn has_gzip(headers: &HeaderMap) -> Result<bool, Problem> {
    match single_text(headers, header::CONTENT_ENCODING)?.map(str::to_ascii_lowercase).as_deref() {
        None | Some("identity") => Ok(false),
        Some("gzip" | "x-gzip") => Ok(true),
        Some(_) => Err(Problem::unsupported_media_type("the Content-Encoding of a file must be gzip")),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(values: &[&'static [u8]]) -> Result<Option<String>, u16> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("webhook-id", HeaderValue::from_bytes(value).expect("a header value"));
        }
        let text = single_text(&headers, HeaderName::from_static("webhook-id"));
        text.map(|text| text.map(str::to_owned)).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn ambiguous_request_head_is_rejected() {
        let check = |version, lines: &[(&'static str, &'static str)]| {
            let headers: HeaderMap = lines
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .fold(HeaderMap::new(), |mut headers, (name, value)| {
                    headers.append(name, value);
                    headers
                });
            require_unambiguous(version, &headers).map_err(|problem| problem.status().as_u16())
        };
        for host in ["keyed", "keyed:8080", "127.0.0.1:8080", "[::1]:80", ""] {
            assert_eq!(check(Version::HTTP_11, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["a b", "a, b", "me@keyed", "http://keyed/", "keyed/x", ":80"] {
            assert_eq!(check(Version::HTTP_11, &[("host", host)]), Err(400), "{host}");
        }
        assert_eq!(check(Version::HTTP_11, &[]), Err(400));
        assert_eq!(check(Version::HTTP_10, &[]), Ok(()));
        let with = |more: &[(&'static str, &'static str)]| {
            check(Version::HTTP_11, &[&[("host", "keyed")], more].concat())
        };
        assert_eq!(with(&[("transfer-encoding", "Chunked")]), Ok(()));
        for more in [
            &[("host", "keyed")][..],
            &[("content-type", "application/json"), ("content-type", "text/csv")],
            &[("transfer-encoding", "gzip, chunked")],
            &[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")],
            &[("transfer-encoding", "identity")],
        ] {
            assert_eq!(with(more), Err(400), "{more:?}");
        }
    }

    #[test]
    fn header_occurs_once_and_is_ascii() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b"msg 1"]), Ok(Some("msg 1".to_owned())));
        assert_eq!(read(&[b"1", b"1"]), Err(400));
        assert_eq!(read(&["é".as_bytes()]), Err(400));
    }

    #[test]
    fn compressed_body_is_rejected() {
        for (encoding, is_taken) in [("identity", true), ("Identity", true), ("gzip", false), ("", false)] {
            let value = HeaderValue::from_static(encoding);
            let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, value)]);
            assert_eq!(require_uncompressed(&headers).is_ok(), is_taken, "{encoding}");
        }
    }
    #[test]
    fn file_accepts_only_gzip() {
        let read = |encoding: &'static str| {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static(encoding))]);
            has_gzip(&headers).map_err(|problem| problem.status().as_u16())
        };
        assert_eq!(has_gzip(&HeaderMap::new()).ok(), Some(false));
        for (encoding, is_gzip) in [("identity", false), ("gzip", true), ("GZIP", true), ("x-gzip", true)] {
            assert_eq!(read(encoding), Ok(is_gzip), "{encoding}");
        }
        for encoding in ["br", "deflate", "gzip, gzip", "gzip, br", ""] {
            assert_eq!(read(encoding), Err(415), "{encoding}");
        }
    }
}
