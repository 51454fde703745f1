//! A single request, and the knowledge of its effect afterwards.

use harness::Sender;
use reqwest::Method;
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(20);

/// The address of the proxy. A restarted proxy has another port.
#[derive(Clone, Default)]
pub(super) struct Address(Arc<RwLock<String>>);

impl Address {
    pub(super) fn set(&self, address: String) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = address;
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The known effect of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The response was a success.
    Acknowledged(Reply),
    /// The request was rejected, and sending it again would not help.
    Rejected(u16, Value),
    /// Nothing was written: the service reports this, or could not be reached.
    NotWritten,
    /// The response was lost, or reports that the outcome is unknown.
    Unknown,
}

/// A successful response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) body: Value,
    pub(super) etag: String,
    pub(super) is_replayed: bool,
}

/// The kind of request.
#[derive(Clone, Debug)]
pub(super) enum Body {
    None,
    Json(Value),
    Csv(String),
    /// A signed delivery with this `webhook-id`.
    Delivery(String, String),
}

pub(super) struct Client {
    http: reqwest::Client,
    address: Address,
    key: String,
    sender: Sender,
}

impl Client {
    pub(super) fn new(address: Address, key: String, sender: Sender) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { http, address, key, sender }
    }

    /// Sends a request once.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        header: Option<(&str, &str)>,
        body: &Body,
    ) -> Outcome {
        let path = format!("/v1{path}").replace("{token}", &self.sender.token);
        let mut request = self.http.request(method, self.address.url(&path));
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = match body {
            Body::None => self.authorized(request),
            Body::Json(json) => self.authorized(request).json(json),
            Body::Csv(rows) => self.authorized(request).header("content-type", "text/csv").body(rows.clone()),
            Body::Delivery(id, payload) => {
                let now = harness::unix_time();
                request
                    .header("webhook-id", id)
                    .header("webhook-timestamp", now)
                    .header("webhook-signature", self.sender.sign(id, now, payload))
                    .header("content-type", "application/json")
                    .body(payload.clone())
            }
        };
        match request.send().await {
            Ok(response) => read(response).await,
            // Without a connection, nothing was sent.
            Err(error) if error.is_connect() => Outcome::NotWritten,
            Err(_) => Outcome::Unknown,
        }
    }

    fn authorized(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        request.bearer_auth(&self.key).header("x-service-project-id", "crm")
    }

    /// Sends a request that the service recognizes when it is repeated, until it gets a response.
    pub(super) async fn send_until_answered(
        &self,
        method: Method,
        path: &str,
        header: Option<(&str, &str)>,
        body: &Body,
    ) -> Reply {
        loop {
            match self.send(method.clone(), path, header, body).await {
                Outcome::Acknowledged(reply) => return reply,
                Outcome::Rejected(status, problem) => panic!("{path}: {status} {problem}"),
                Outcome::NotWritten | Outcome::Unknown => pause().await,
            }
        }
    }
}

/// Waits a little for the service to recover.
pub(super) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

async fn read(response: reqwest::Response) -> Outcome {
    let status = response.status().as_u16();
    let text = |name: &str| {
        let value = response.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (etag, is_replayed) = (text("etag"), text("idempotency-replayed") == "true");
    let Ok(body) = response.text().await else { return Outcome::Unknown };
    let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    if (200..300).contains(&status) {
        return Outcome::Acknowledged(Reply { body, etag, is_replayed });
    }
    match (body["outcome"].as_str(), body["retryable"].as_bool()) {
        (Some("unknown"), Some(false)) => Outcome::Unknown,
        (None, Some(true)) => Outcome::NotWritten,
        (None, Some(false)) if status < 500 => Outcome::Rejected(status, body),
        _ => panic!("{status}: {body}"),
    }
}
