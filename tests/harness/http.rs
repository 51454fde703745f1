//! A request to the proxy and its response.

use crate::{contract, read_mode};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// A request builder, by default with the proxy's preset key and project.
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    pub(crate) builder: reqwest::RequestBuilder,
    pub(crate) key: Option<String>,
    pub(crate) project: Option<String>,
}

impl Request {
    /// Sets another API key.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Removes the API key.
    pub fn without_key(mut self) -> Self {
        self.key = None;
        self
    }

    /// Sets another project.
    pub fn project(mut self, project: &str) -> Self {
        self.project = Some(project.to_owned());
        self
    }

    /// Removes the project.
    pub fn without_project(mut self) -> Self {
        self.project = None;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    /// Sends a JSON body.
    pub fn json(mut self, body: &Value) -> Self {
        self.builder = self.builder.json(body);
        self
    }

    /// Sends this body unchanged: text, bytes, or a stream.
    pub fn body(mut self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        self.builder = self.builder.header(CONTENT_TYPE, content_type).body(body);
        self
    }

    /// Sends the request and returns reqwest's own response, for responses that are read in chunks.
    pub async fn response(self) -> reqwest::Response {
        let (client, request) = self.into_parts().await;
        client.execute(request).await.expect("the proxy responds")
    }

    async fn into_parts(self) -> (reqwest::Client, reqwest::Request) {
        let mut headers = HeaderMap::new();
        if let Some(position) = read_mode::position().await {
            headers.insert(HeaderName::from_static("x-keyed-position"), header_value(&position));
        }
        if let Some(key) = self.key {
            headers.insert(reqwest::header::AUTHORIZATION, header_value(&format!("Bearer {key}")));
        }
        if let Some(project) = self.project {
            headers.insert(HeaderName::from_static("x-service-project-id"), header_value(&project));
        }
        let (client, request) = self.builder.headers(headers).build_split();
        (client, request.expect("a request"))
    }

    /// Sends the request, reads the whole response, and validates it against the service's OpenAPI document.
    pub async fn send(self) -> Response {
        let (client, request) = self.into_parts().await;
        let (method, url) = (request.method().to_string(), request.url().clone());
        let response = client.execute(request).await.expect("the proxy responds");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("the response is complete");
        contract::check(&method, &url, status, &headers, &text).await;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Response { status, headers, body, text }
    }
}

fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_bytes(text.as_bytes()).expect("the value is valid in a header")
}

/// A response of the proxy.
#[derive(Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; null if it is not JSON.
    pub body: Value,
    /// The body as text, in which numbers have all their digits.
    pub text: String,
}

impl Response {
    /// Asserts the status and returns the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "the response was: {}", self.text);
        self.body
    }

    /// Asserts the status, the error code and the form of RFC 9457, and returns the body.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status, self.body["code"].as_str().unwrap_or_default()),
            (status, code),
            "the response was: {}",
            self.text
        );
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status, "{}", self.text);
        for member in ["type", "title", "detail", "instance"] {
            assert!(self.body[member].is_string(), "no {member} in {}", self.text);
        }
        self.body
    }

    /// The value of a header; empty if absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Percent-encodes a text for a query string or a path segment.
pub fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
