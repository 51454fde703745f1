//! The interface as OpenAPI 3.1 describes it, served at `/openapi.json` and, to be read, at `/docs`.
//!
//! It is written by hand beside the routes, since bodies pass through the proxy as text and no type of Rust knows them.
//! Tests hold it against the list of routes in both directions, and against what the service really answers.

/// One operation after the other, with parameters, body and answers.
mod operation;

/// The page for people.
mod page;

/// Every path.
mod paths;

/// What bodies look like.
mod schemas;

use std::sync::LazyLock;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::answer;

/// The document as text, made once.
static TEXT: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string_pretty(&document()).unwrap_or_default() + "\n");

static PAGE: LazyLock<String> = LazyLock::new(|| page::render(&document()));

/// The document as text.
pub(crate) fn text() -> &'static str {
    &TEXT
}

/// GET /openapi.json.
pub(crate) async fn serve() -> Response {
    let mut answer = answer::json(StatusCode::OK, text().to_owned());
    // Of no caller in particular.
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// GET /docs.
pub(crate) async fn serve_page() -> Response {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    // A page without scripts, that nothing can be smuggled into.
    let policy = HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    );
    ([(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)], PAGE.as_str()).into_response()
}

/// The document.
fn document() -> Value {
    let mut paths = Map::new();
    for operation in paths::all() {
        let (path, method, description) = operation.into_parts();
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        entry[method] = description;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "keyed",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Records under the caller's own keys, with typed templates, search and access.",
            "description": "Every path below `/v1` is served below `/api/v1` as well. A write may carry an \
                `Idempotency-Key`: sent again, it has one effect and the same answer for 24 hours.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service"}],
        "security": [{"key": []}],
        "tags": paths::TAGS.map(|(name, description)| json!({"name": name, "description": description})),
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {
                "type": "http", "scheme": "bearer", "bearerFormat": "keyed_<number>_<secret>",
                "description": "An API key, issued by `keyed.issue_api_key` or `keyed-proxy keys create`.",
            }},
            "parameters": operation::shared_parameters(),
            "headers": operation::shared_headers(),
            "responses": operation::shared_responses(),
            "schemas": schemas::all(),
        },
    })
}

#[cfg(test)]
mod tests;
