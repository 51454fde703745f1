//! The time from the head of a request to the end of its response.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response};
use hyper::body::Body as HttpBody;

use super::body::{Received, Sent};
use super::finish::Finish;
use super::observed::Observation;
use crate::traces::Traces;

/// Runs a request, and observes it to the end of its response. Its spans go to `traces`.
pub(crate) async fn observe<B, A>(
    mut request: Request<B>,
    traces: Option<Arc<Traces>>,
    run: impl FnOnce(Request<Body>) -> A,
) -> Result<Response<Sent>, Infallible>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<axum::BoxError>,
    A: Future<Output = Result<Response<Body>, Infallible>>,
{
    let observation = Observation::begin(&request, traces);
    request.extensions_mut().insert(observation.clone());
    let mut finish = Finish::new(observation.clone(), request.method() == Method::HEAD);
    let request = request.map(|body| match body.is_end_stream() {
        true => Body::empty(),
        false => Body::new(Received::new(body, observation)),
    });
    let response = run(request).await?;
    finish.answered(response.status().as_u16());
    Ok(response.map(|body| Sent::new(body, finish)))
}
