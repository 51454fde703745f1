//! Middleware for all responses: the request id, the problem body, and a log entry for server errors.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hyper::body::Body as _;

use crate::compression::Accepted;
use crate::header::require_unambiguous;
use crate::lingering::linger;
use crate::numbers::Numbers;
use crate::observation::{InMemory, Observation, REQUEST_ID};
use crate::position::POSITION;
use crate::problem::Problem;

/// Runs one request. A [`Problem`] is rendered only here, where its request id is known.
pub(crate) async fn wrap(request: Request, next: Next) -> Response {
    around(request, |request| next.run(request)).await
}

/// The response to a request that is rejected before it has a route.
pub(crate) async fn reject(parts: axum::http::request::Parts, problem: Problem) -> Response {
    around(Request::from_parts(parts, Body::empty()), async |_| problem.into_response()).await
}

async fn around<A: Future<Output = Response>>(
    mut request: Request,
    run: impl FnOnce(Request) -> A,
) -> Response {
    let accepted = Accepted::of(request.headers());
    // The extractor of the caller rejects invalid parameters.
    let numbers = Numbers::of(request.uri()).unwrap_or_default();
    let observation = Observation::of(&mut request);
    let route = request.extensions().get::<MatchedPath>().cloned();
    observation.routed(route.clone());

    let sound = match observation.came_by_socket() {
        true => require_unambiguous(request.version(), request.headers()),
        false => Ok(()),
    };
    let running = async {
        match sound {
            Ok(()) => run(linger(request)).await,
            Err(problem) => {
                let mut response = problem.into_response();
                // The start of the next request on this connection cannot be determined.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    };
    let mut response = match AssertUnwindSafe(running).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => Problem::internal(format!("panic: {}", panic_text(&*panic))).into_response(),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let status = response.status().as_u16();
        if let Some(cause) = problem.cause() {
            let (id, instance) = (observation.id().as_str(), observation.id().other_instance());
            let instance = instance.map(tracing::field::display);
            let (method, route) = (observation.method(), route.as_ref().map_or("", MatchedPath::as_str));
            // Internal errors need a fix; other server errors are mostly temporary.
            if status == 500 {
                tracing::error!(request_id = id, instance, method, route, status, cause, "request failed");
            } else {
                tracing::warn!(request_id = id, instance, method, route, status, cause, "request failed");
            }
        }
        observation.rejected(problem.reason());
        *response.body_mut() = Body::from(problem.render(observation.instance()));
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, observation.id().header.clone());
    if let Some(position) = observation.position()
        && let Ok(position) = HeaderValue::try_from(position.to_string())
    {
        headers.insert(POSITION, position);
    }
    // Responses depend on the key: neither shared caches nor the browser may store them for other users.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // Values are text from users, which browsers must not interpret as a page or script.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let mut response = numbers.write(response).await;
    if accepted.is_any()
        && let Some(bytes) = response.body().size_hint().exact()
    {
        response.extensions_mut().insert(InMemory(bytes));
    }
    accepted.compress(response, || observation.caller()).await
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn panic_returns_an_internal_error() {
        let panics = axum::routing::get(async || -> Response { panic!("secret") });
        let router = axum::Router::new().route("/", panics).layer(axum::middleware::from_fn(wrap));
        let response = router.oneshot(Request::new(Body::empty())).await.expect("an answer");
        assert_eq!(response.status(), 500);
        let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        assert!(body.starts_with(b"{\"type\":") && !body.windows(6).any(|window| window == b"secret"));
    }
}
