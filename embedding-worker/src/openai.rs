//! A server with OpenAI's API: sends requests, checks responses, and retries temporary failures.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode, Uri, header};
use serde::Serialize;

use crate::outcome::{Failed, Outcome};
use crate::response::{beginning, read, retry_after};
use crate::settings::EmbeddingSettings;
use keyed_service::http_client::{HttpClient, http_client};

/// The maximum wait before a retry. If the server requests a longer wait, no requests are sent to it during that time,
/// and texts stay in the queue.
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The maximum size of a response. 2048 vectors need a fraction of it.
const MAX_RESPONSE: usize = 128 << 20;

pub(crate) struct Server {
    http: HttpClient<Full<Bytes>>,
    address: Uri,
    key: RwLock<Option<String>>,
    model: String,
    dimensions: Option<usize>,
    timeout: Duration,
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [Cow<'a, str>],
    // Some servers return base64 by default.
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl Server {
    pub(crate) fn new(settings: &EmbeddingSettings) -> anyhow::Result<Server> {
        Ok(Server {
            http: http_client(Some(settings.embed_timeout.min(Duration::from_secs(5))))?,
            address: settings.address().map_err(anyhow::Error::msg)?,
            key: RwLock::new(settings.key().map_err(anyhow::Error::msg)?),
            model: settings.model().map_err(anyhow::Error::msg)?,
            dimensions: settings.embed_dimensions,
            timeout: settings.embed_timeout,
        })
    }

    /// Replaces the API key. Returns whether it differs.
    pub(crate) fn replace_key(&self, key: Option<String>) -> bool {
        let mut current = self.key.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = *current != key;
        *current = key;
        is_other
    }

    fn key(&self) -> Option<String> {
        self.key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// The vectors of some texts, in their order. Temporary failures are retried up to `tries` times.
    pub(crate) async fn request_vectors(
        &self,
        texts: &[Cow<'_, str>],
        tries: usize,
    ) -> Result<Vec<Outcome>, Failed> {
        let question = EmbeddingRequest {
            model: &self.model,
            input: texts,
            encoding_format: "float",
            dimensions: self.dimensions,
        };
        let question: Bytes =
            serde_json::to_vec(&question).map_err(|error| Failed::Permanent(error.to_string()))?.into();
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(MAX_PAUSE)
            .with_max_times(tries)
            .with_jitter();
        (|| self.request_once(question.clone(), texts.len()))
            .retry(pauses)
            .when(|failed| matches!(failed, Failed::Temporary { .. }))
            .adjust(|failed, pause| match failed {
                Failed::Temporary { retry_after: Some(asked), .. } => {
                    pause.filter(|_| *asked <= MAX_PAUSE).map(|pause| pause.max(*asked))
                }
                _ => pause,
            })
            .await
    }

    async fn request_once(&self, question: Bytes, texts: usize) -> Result<Vec<Outcome>, Failed> {
        let (status, headers, body) = match tokio::time::timeout(self.timeout, self.exchange(question)).await
        {
            Ok(exchanged) => exchanged?,
            Err(_) => {
                let message = format!("no response within {} s", self.timeout.as_secs_f64());
                return Err(Failed::Temporary {
                    message,
                    retry_after: None,
                    may_depend_on_text: true,
                    is_busy: false,
                });
            }
        };
        if status == StatusCode::OK {
            return read(&body, texts).map_err(|failed| self.without_key(failed));
        }
        let message = format!("HTTP {}: {}", status.as_u16(), beginning(&body));
        Err(self.without_key(match status.as_u16() {
            400 | 413 | 422 => Failed::Texts(message),
            status @ (408 | 409 | 425 | 429 | 500..) => {
                let retry_after = retry_after(&headers);
                // A server that requests a long wait is overloaded, regardless of the texts.
                let may_depend_on_text = status >= 500 && retry_after.is_none_or(|pause| pause <= MAX_PAUSE);
                Failed::Temporary { message, retry_after, may_depend_on_text, is_busy: status == 429 }
            }
            _ => Failed::Permanent(message),
        }))
    }

    async fn exchange(&self, question: Bytes) -> Result<(StatusCode, HeaderMap, Bytes), Failed> {
        let mut request = Request::new(Full::new(question));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.address.clone();
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("keyed-proxy/", env!("CARGO_PKG_VERSION"))),
        );
        if let Some(key) = self.key()
            && let Ok(mut value) = HeaderValue::try_from(format!("Bearer {key}"))
        {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let broken = |error: anyhow::Error, may_depend_on_text| Failed::Temporary {
            message: format!("{error:#}"),
            retry_after: None,
            may_depend_on_text,
            is_busy: false,
        };
        let response = self.http.request(request).await.map_err(|error| {
            // If the server accepted the connection, a text may have crashed it.
            let was_reached = !error.is_connect();
            broken(anyhow::Error::new(error).context("the server cannot be reached"), was_reached)
        })?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MAX_RESPONSE).collect().await.map_err(|error| {
            broken(
                anyhow::anyhow!(error).context("the connection was closed before the end of the response"),
                true,
            )
        })?;
        Ok((parts.status, parts.headers, body.to_bytes()))
    }

    /// Removes the API key from an error. Some servers repeat an invalid key, and errors are logged and stored in the database.
    fn without_key(&self, failed: Failed) -> Failed {
        let key = self.key();
        let hide = |message: String| match &key {
            Some(key) => message.replace(key.as_str(), "…"),
            None => message,
        };
        match failed {
            Failed::Texts(message) => Failed::Texts(hide(message)),
            Failed::Permanent(message) => Failed::Permanent(hide(message)),
            Failed::Temporary { message, retry_after, may_depend_on_text, is_busy } => {
                Failed::Temporary { message: hide(message), retry_after, may_depend_on_text, is_busy }
            }
            Failed::Length(length) => Failed::Length(length),
        }
    }
}
