//! One delivery attempt: a POST without redirects. Only the beginning of the response is read.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::address::Allowed;
use crate::connection::connect;
use crate::signature::sign;
use crate::target::Target;
use keyed_service::tls;

/// The maximum number of bytes of a response that are read.
const MAX_READ: usize = 64 << 10;
/// The maximum number of bytes that are stored.
const MAX_KEPT: usize = 1 << 10;
/// The maximum size of the head of a response.
const MAX_HEAD: usize = 64 << 10;

/// A delivery to send.
#[derive(Deserialize)]
pub(crate) struct Delivery {
    /// The `webhook-id`.
    pub(crate) id: String,
    /// The name of the endpoint, for the log.
    pub(crate) endpoint: String,
    pub(crate) url: String,
    pub(crate) body: String,
    pub(crate) secrets: Vec<String>,
}

/// The outcome of an attempt. It succeeded if there is no error.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) response: Option<String>,
    /// The delay that the receiver requests, in seconds.
    pub(crate) retry_after: Option<u64>,
    pub(crate) duration: Duration,
}

/// Sends deliveries.
pub(crate) struct Sender {
    allowed: Allowed,
    tls: Arc<ClientConfig>,
    timeout: Duration,
}

impl Sender {
    pub(crate) fn new(allowed: Allowed, timeout: Duration) -> anyhow::Result<Sender> {
        Ok(Sender { allowed, tls: Arc::new(tls::client()?), timeout })
    }

    /// The timeout of an attempt.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends a delivery once.
    pub(crate) async fn send(&self, delivery: &Delivery) -> Outcome {
        let began = Instant::now();
        let mut outcome = Outcome::default();
        let failure = match tokio::time::timeout(self.timeout, self.exchange(delivery, &mut outcome)).await {
            Ok(done) => done.err(),
            Err(_) => Some(match outcome.status {
                None => format!("no response within {} seconds", self.timeout.as_secs_f64()),
                Some(_) => format!("the response did not end within {} seconds", self.timeout.as_secs_f64()),
            }),
        };
        outcome.error = failure.or_else(|| outcome.status.and_then(status_error));
        outcome.duration = began.elapsed();
        outcome
    }

    async fn exchange(&self, delivery: &Delivery, outcome: &mut Outcome) -> Result<(), String> {
        let target = Target::parse(&delivery.url)?;
        let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let signature = sign(&delivery.secrets, &delivery.id, timestamp, &delivery.body)?;
        let stream = connect(&target, &self.allowed, &self.tls).await?;
        let request = Request::post(&target.path)
            .header(header::HOST, &target.authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("keyed/", env!("CARGO_PKG_VERSION")))
            .header(header::CONNECTION, "close")
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(Full::new(Bytes::copy_from_slice(delivery.body.as_bytes())))
            .map_err(|error| format!("the request cannot be made: {error}"))?;
        let broken = |error: hyper::Error| format!("the connection broke: {}", in_words(&error));
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // Dropping the set closes the connection.
        let mut connections = JoinSet::new();
        connections.spawn(connection);
        let response = sender.send_request(request).await.map_err(broken)?;
        outcome.status = Some(response.status().as_u16());
        outcome.retry_after = retry_after(response.headers(), SystemTime::now());
        let mut body = response.into_body();
        let (mut read, mut kept) = (0, Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(broken)?;
            let Some(data) = frame.data_ref() else { continue };
            read += data.len();
            kept.extend_from_slice(&data[..data.len().min(MAX_KEPT - kept.len())]);
            outcome.response = Some(text_of(&kept));
            if read >= MAX_READ {
                break;
            }
        }
        Ok(())
    }
}

/// The error for a status other than 2xx.
fn status_error(status: u16) -> Option<String> {
    match StatusCode::from_u16(status) {
        Ok(status) if status.is_success() => None,
        Ok(status) if status.is_redirection() => {
            Some(format!("the receiver returned {status}; redirects are not followed"))
        }
        Ok(status) => Some(format!("the receiver returned {status}")),
        Err(error) => Some(error.to_string()),
    }
}

/// An error with its causes, because hyper's message alone is not specific.
fn in_words(error: &hyper::Error) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        words += &format!(": {cause}");
        source = cause.source();
    }
    words
}

/// The stored part of a response as text.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(MAX_KEPT));
    text
}

/// The seconds of Retry-After, which is a number or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(now).ok().map(|rest| rest.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_2xx_is_a_success() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(status_error(status), None);
        }
        for status in [300, 301, 307, 400, 404, 410, 429, 500, 503, 999] {
            assert!(status_error(status).is_some(), "{status}");
        }
        assert!(status_error(302).is_some_and(|failure| failure.contains("redirects")));
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (text, seconds) in [
            ("120", Some(120)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", None),
            ("-1", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().expect("a header"))]);
            assert_eq!(retry_after(&headers, now), seconds, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn kept_response_is_text_within_the_bound() {
        assert_eq!(text_of(b"a\0b\xff"), "a\u{fffd}b\u{fffd}");
        assert!(text_of(&[0xff; MAX_KEPT]).len() <= MAX_KEPT);
    }
}
