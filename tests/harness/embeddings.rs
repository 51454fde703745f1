//! A server with OpenAI's POST /v1/embeddings, with configurable failures.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of dimensions of a vector.
pub const DIMENSION: usize = 768;

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct EmbeddingRequest {
    /// The body.
    pub body: Value,
    /// The Authorization header; empty if absent.
    pub authorization: String,
    /// The path.
    pub path: String,
    /// The time of arrival.
    pub at: Instant,
    /// The number of earlier requests.
    pub number: usize,
}

impl EmbeddingRequest {
    /// The inputs to embed.
    pub fn inputs(&self) -> Vec<String> {
        let inputs = self.body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        inputs.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
    }
}

/// The server's reply to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The delay.
    pub after: Duration,
    /// The status.
    pub status: u16,
    /// The header Retry-After.
    pub retry_after: Option<&'static str>,
    /// The body.
    pub body: String,
}

impl Reply {
    /// A successful reply: for each input, the vector that [`axis`] selects.
    pub fn success(question: &EmbeddingRequest) -> Self {
        let inputs = question.inputs();
        let items = inputs.iter().enumerate().map(|(index, text)| item(index, &vector(axis(text))));
        Self::of(&items.collect::<Vec<_>>())
    }

    /// A successful reply with these items.
    pub fn of(items: &[String]) -> Self {
        Self::body(&format!("{{\"object\":\"list\",\"data\":[{}]}}", items.join(",")))
    }

    /// A reply with status 200 and this body.
    pub fn body(body: &str) -> Self {
        Self { after: Duration::ZERO, status: 200, retry_after: None, body: body.to_owned() }
    }

    /// A failure.
    pub fn status(status: u16) -> Self {
        let body = json!({"error": {"message": format!("failed on purpose with {status}")}}).to_string();
        Self { status, ..Self::body(&body) }
    }

    /// The same reply after a delay.
    #[must_use]
    pub fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// The same reply with a Retry-After of some seconds.
    #[must_use]
    pub fn retry_after(self, seconds: &'static str) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

/// One element of a reply; `vector` is JSON, valid or not.
pub fn item(index: usize, vector: &str) -> String {
    format!("{{\"object\":\"embedding\",\"index\":{index},\"embedding\":{vector}}}")
}

/// A vector as JSON: 1 at this index, 0 elsewhere.
pub fn vector(axis: usize) -> String {
    let numbers: Vec<&str> = (0..DIMENSION).map(|index| if index == axis { "1" } else { "0" }).collect();
    format!("[{}]", numbers.join(","))
}

/// The index at which the vector of a text is 1. Texts with different byte sums have orthogonal vectors.
pub fn axis(text: &str) -> usize {
    text.bytes().map(usize::from).sum::<usize>() % DIMENSION
}

/// The server. It ends when it is dropped.
pub struct EmbeddingServer {
    address: SocketAddr,
    questions: Arc<Mutex<Vec<EmbeddingRequest>>>,
    task: tokio::task::JoinHandle<()>,
}

impl EmbeddingServer {
    /// Starts a server that embeds every input.
    pub async fn start() -> Self {
        Self::start_with(Reply::success).await
    }

    /// Starts a server with these replies.
    pub async fn start_with(
        reply: impl Fn(&EmbeddingRequest) -> Reply + Clone + Send + Sync + 'static,
    ) -> Self {
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&questions);
        let response = async move |request: axum::extract::Request| -> Response {
            let (parts, body) = request.into_parts();
            let body: Bytes = axum::body::to_bytes(body, 1 << 26).await.expect("the body arrives");
            let question = {
                let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                let question = EmbeddingRequest {
                    body: serde_json::from_slice(&body).expect("the question is JSON"),
                    authorization: header_text(&parts.headers, header::AUTHORIZATION),
                    path: parts.uri.path().to_owned(),
                    at: Instant::now(),
                    number: asked.len(),
                };
                asked.push(question.clone());
                question
            };
            let reply = reply(&question);
            tokio::time::sleep(reply.after).await;
            let status = StatusCode::from_u16(reply.status).expect("a status");
            let mut response = (status, reply.body).into_response();
            if let Some(seconds) = reply.retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.parse().expect("a header"));
            }
            response
        };
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let task = tokio::spawn(async move {
            let router = axum::Router::new().fallback(response);
            axum::serve(listener, router).await.expect("the server runs until it is dropped");
        });
        Self { address, questions, task }
    }

    /// The URL, in the form of the proxy's setting.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<EmbeddingRequest> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many requests have arrived.
    pub async fn until_requested(&self, times: usize) {
        crate::until("the provider gets a request", async || self.requests().len() >= times).await;
    }

    /// All inputs of the requests so far.
    pub fn inputs(&self) -> Vec<String> {
        self.requests().iter().flat_map(EmbeddingRequest::inputs).collect()
    }
}

impl Drop for EmbeddingServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn header_text(headers: &HeaderMap, name: header::HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
