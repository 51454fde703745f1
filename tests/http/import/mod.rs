//! POST /entities/template/{template}/import.

mod chains;
mod files;
mod formats;
mod forms;
mod gzip;
mod interruptions;
mod invalid;
mod matching;
mod mirror;
mod sheet_attacks;
mod sheets;
mod update;
mod warnings;

use harness::{Response, Service};
use serde_json::Value;

/// Sends a file of customers; `query` is the raw query string.
pub(crate) async fn import(service: &Service, query: &str, file: impl Into<reqwest::Body>) -> Response {
    send(service, "text/csv", "customers", query, file).await
}

pub(crate) async fn send(
    service: &Service,
    content_type: &str,
    template: &str,
    query: &str,
    file: impl Into<reqwest::Body>,
) -> Response {
    let path = format!("/v1/entities/template/{template}/import?{query}");
    service.proxy.request("POST", &path).body(content_type, file).send().await
}

/// The counts `rows`, `created`, `updated`, `unchanged` and `failed`.
pub(crate) fn counts(report: &Value) -> [u64; 5] {
    ["rows", "created", "updated", "unchanged", "failed"]
        .map(|name| report[name].as_u64().unwrap_or(u64::MAX))
}

pub(crate) async fn attributes(service: &Service, key: &str) -> Value {
    service.by_key(key).await.expect(200)["attributes"].clone()
}
