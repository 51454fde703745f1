//! The OpenAPI 3.1 document, served at `/openapi.json` and, without the web application, as a page at `/docs`.
//!
//! The document is written by hand in `proxy/openapi/`, because bodies pass through the proxy as text, and no Rust
//! types describe them. Tests compare it with the list of routes in both directions, and with the responses of the
//! service.

/// The HTML page, in builds without the web application.
#[cfg(not(feature = "ui"))]
mod page;

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
#[cfg(any(test, not(feature = "ui")))]
use serde_json::Value;

use crate::compression::{Accepted, Constant};
use crate::conditional::{has_tag, set_tag};
use crate::problem::Problem;

/// The document, built from `proxy/openapi/`.
const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// The document is public, so it is not compressed for each request.
static DOCUMENT: Constant = Constant::new(TEXT.as_bytes());

/// Its entity tag, without quotes.
static TAG: LazyLock<String> = LazyLock::new(|| format!("{:08x}", crc32fast::hash(TEXT.as_bytes())));

#[cfg(not(feature = "ui"))]
static PAGE: LazyLock<String> = LazyLock::new(|| page::render(&document()));

/// The document as text.
pub fn text() -> &'static str {
    TEXT
}

/// GET /openapi.json.
pub(crate) async fn serve(headers: HeaderMap) -> Result<Response, Problem> {
    let mut response = match has_tag(&headers, &TAG) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => DOCUMENT.response(&Accepted::of(&headers)).await,
    };
    set_tag(&mut response, &TAG)?;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // The response does not depend on the caller.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// GET /docs.
#[cfg(not(feature = "ui"))]
pub(crate) async fn serve_page() -> Response {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    // A page without scripts and without external content.
    let policy = HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    );
    ([(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)], PAGE.as_str()).into_response()
}

/// The document.
#[cfg(any(test, not(feature = "ui")))]
fn document() -> Value {
    serde_json::from_str(TEXT).expect("the build wrote it as JSON")
}

#[cfg(test)]
mod tests;
