//! CORS for the configured origins. Without any, browsers block requests from pages of other origins.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// The response headers that a page can read.
const EXPOSED_HEADERS: [HeaderName; 12] = [
    header::ETAG,
    header::LOCATION,
    header::RETRY_AFTER,
    header::CONTENT_DISPOSITION,
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-search-exact"),
    HeaderName::from_static("x-search-exhausted"),
    HeaderName::from_static("idempotency-replayed"),
    HeaderName::from_static("x-keyed-position"),
];

/// The request headers that a page can send.
const ALLOWED_HEADERS: [HeaderName; 12] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::ACCEPT,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("x-service-project-id"),
    HeaderName::from_static("x-keyed-source"),
    HeaderName::from_static("x-keyed-position"),
    HeaderName::from_static("x-keyed-read"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("traceparent"),
];

/// The time for which a browser can cache a preflight response.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Parses the setting: origins separated by commas, or `*` for all.
pub(crate) fn origins(text: &str) -> Result<Vec<HeaderValue>, String> {
    let origins = text.split(',').map(str::trim).filter(|origin| !origin.is_empty());
    let origins: Vec<HeaderValue> = origins.map(origin).collect::<Result<_, _>>()?;
    if origins.len() > 1 && origins.iter().any(|origin| origin == "*") {
        return Err("* allows every origin and cannot be combined with others".to_owned());
    }
    Ok(origins)
}

fn origin(text: &str) -> Result<HeaderValue, String> {
    let invalid =
        || format!("{text:?} is not an origin, such as https://app.example.com or http://localhost:3000");
    let value = HeaderValue::from_str(text).map_err(|_| invalid())?;
    if text == "*" {
        return Ok(value);
    }
    let uri: Uri = text.parse().map_err(|_| invalid())?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(invalid)?;
    let authority = uri.authority().ok_or_else(invalid)?;
    // As browsers write it: no user name before the host, no path after the port.
    let as_written = format!("{scheme}://{}", authority.as_str().to_ascii_lowercase());
    if as_written == text && !authority.as_str().contains('@') { Ok(value) } else { Err(invalid()) }
}

/// The CORS layer; `None` without configured origins. Pages send the API key in a header and no cookies, so credentials
/// are not allowed.
pub(crate) fn layer(origins: &[HeaderValue]) -> Option<CorsLayer> {
    let allowed = match origins {
        [] => return None,
        [all] if all == "*" => AllowOrigin::any(),
        origins => AllowOrigin::list(origins.iter().cloned()),
    };
    Some(
        CorsLayer::new()
            .allow_origin(allowed)
            .allow_methods([
                Method::GET,
                Method::HEAD,
                Method::POST,
                Method::PUT,
                Method::PATCH,
                Method::DELETE,
            ])
            .allow_headers(ALLOWED_HEADERS)
            .expose_headers(EXPOSED_HEADERS)
            .max_age(MAX_AGE),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_browsers_write_them() {
        let read = |text: &str| origins(text).map(|origins| origins.len());
        assert_eq!(read(""), Ok(0));
        assert_eq!(read("*"), Ok(1));
        assert_eq!(read("https://app.example.com, http://localhost:3000"), Ok(2));
        for text in [
            "example.com",
            "https://example.com/",
            "https://Example.com",
            "ftp://a",
            "https://u@a",
            "null",
            "*, *",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(layer(&[]).is_none());
    }
}
