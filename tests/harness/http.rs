//! A request to the proxy and its answer.

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
    /// Asks with another API key.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Asks without any API key.
    pub fn without_key(mut self) -> Self {
        self.key = None;
        self
    }

    /// Names another project.
    pub fn project(mut self, project: &str) -> Self {
        self.project = Some(project.to_owned());
        self
    }

    /// Names no project.
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

    /// Sends a body as it is: text, bytes, or a stream.
    pub fn body(mut self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        self.builder = self.builder.header(CONTENT_TYPE, content_type).body(body);
        self
    }

    /// Sends the request and hands out reqwest's own response, for answers that are read piece by piece.
    pub async fn response(self) -> reqwest::Response {
        let (client, request) = self.into_parts().await;
        client.execute(request).await.expect("the proxy answers")
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

    /// Sends the request, reads the whole answer, and holds it against the service's own description.
    pub async fn send(self) -> Answer {
        let (client, request) = self.into_parts().await;
        let (method, url) = (request.method().to_string(), request.url().clone());
        let response = client.execute(request).await.expect("the proxy answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("the answer comes to its end");
        contract::check(&method, &url, status, &headers, &text).await;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Answer { status, headers, body, text }
    }
}

fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_bytes(text.as_bytes()).expect("the value may stand in a header")
}

/// What the proxy answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; null when it is not JSON.
    pub body: Value,
    /// The body as it came: numbers in it have all their digits.
    pub text: String,
}

impl Answer {
    /// The body, after making sure of the status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "the proxy answered: {}", self.text);
        self.body
    }

    /// The body of a refusal, after making sure of its status, its code and the form of RFC 9457.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status, self.body["code"].as_str().unwrap_or_default()),
            (status, code),
            "the proxy answered: {}",
            self.text
        );
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status, "{}", self.text);
        for member in ["type", "title", "detail", "instance"] {
            assert!(self.body[member].is_string(), "no {member} in {}", self.text);
        }
        self.body
    }

    /// A header's value, empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A text, percent-encoded for a query string or a segment of a path.
pub fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
