//! Observes a request from its head to the end of its response.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, Method, Request, Response};
use hyper::body::Body as HttpBody;

use super::body::{FRAME, Received, Sent};
use super::finish::Finish;
use super::link::Link;
use super::observed::Observation;
use crate::metrics::Metrics;
use crate::traces::Traces;

/// Marks a stored response: the request was not run again.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The destinations of observations other than the access log.
#[derive(Clone)]
pub struct Sinks {
    /// The metrics of the process.
    pub metrics: Arc<Metrics>,
    /// `None` unless spans are exported.
    pub traces: Option<Arc<Traces>>,
}

/// The uncompressed size of a response that is compressed while it is sent.
#[derive(Clone, Copy)]
pub(crate) struct InMemory(pub(crate) u64);

/// Runs a request from this client address, and observes it until the end of its response.
pub(crate) async fn observe<B, A>(
    mut request: Request<B>,
    address: IpAddr,
    sinks: Sinks,
    link: Link,
    run: impl FnOnce(Request<Body>) -> A,
) -> Result<Response<Sent>, Infallible>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<axum::BoxError>,
    A: Future<Output = Result<Response<Body>, Infallible>>,
{
    let observation = Observation::begin(&request, Some(address), sinks.traces);
    request.extensions_mut().insert(observation.clone());
    let mut finish = Finish::new(observation.clone(), sinks.metrics, request.method() == Method::HEAD, link);
    let request = request.map(|body| match body.is_end_stream() {
        true => Body::empty(),
        false => Body::new(Received::new(body, observation)),
    });
    let response = run(request).await?;
    finish.responded(response.status().as_u16(), response.headers().contains_key(REPLAYED));
    // A response that is compressed while it is sent is in memory uncompressed.
    let size = match response.extensions().get::<InMemory>() {
        Some(InMemory(bytes)) => Some(*bytes),
        None => response.body().size_hint().exact(),
    };
    if size.is_none_or(|bytes| bytes > FRAME as u64) {
        finish.is_large(size);
    } else {
        finish.release();
    }
    Ok(response.map(|body| Sent::new(body, finish)))
}
