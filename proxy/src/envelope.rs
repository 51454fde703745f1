//! Added to every response: a request id, the body of a problem, and for server errors a log entry.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use uuid::Uuid;

use crate::compression::Accepted;
use crate::lingering::linger;
use crate::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Runs one request. The only place where a [`Problem`] becomes text, since only here its request id is known.
pub(crate) async fn wrap(mut request: Request, next: Next) -> Response {
    let started = tracing::enabled!(tracing::Level::DEBUG).then(Instant::now);
    let accepted = Accepted::of(request.headers());
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(Instance(id.uuid));
    let method = request.method().clone();
    // Never the path itself: it may carry a secret, as the address of a delivery does.
    let route = request.extensions().get::<MatchedPath>().cloned();

    let mut response = match AssertUnwindSafe(next.run(linger(request))).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => Problem::internal(format!("panic: {}", panic_text(&*panic))).into_response(),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let status = response.status().as_u16();
        if let Some(cause) = problem.cause() {
            let route = route.as_ref().map_or("", MatchedPath::as_str);
            // Internal errors need a fix; others mostly pass.
            if status == 500 {
                tracing::error!(request_id = %id.uuid, %method, route, status, cause, "request failed");
            } else {
                tracing::warn!(request_id = %id.uuid, %method, route, status, cause, "request failed");
            }
        }
        *response.body_mut() = Body::from(problem.render(id.uuid));
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
    if let Some(started) = started {
        let route = route.as_ref().map_or("", MatchedPath::as_str);
        let (status, microseconds) = (response.status().as_u16(), started.elapsed().as_micros());
        tracing::debug!(request_id = %id.uuid, %method, route, status, microseconds, "request");
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.header);
    // Responses depend on the key: shared caches must not store them, nor the browser for another user.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // Values are the users' own text, which no browser may take for a page or a script.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    accepted.pack(response).await
}

/// The request id, for handlers that write a problem into a started response.
#[derive(Clone, Copy)]
pub(crate) struct Instance(pub(crate) Uuid);

/// The id under which one request is found in the logs of caller and service.
struct RequestId {
    /// As the caller wrote it, so that a search for it finds both sides.
    header: HeaderValue,
    uuid: Uuid,
}

impl RequestId {
    /// The caller's own id when it is a UUID (with or without hyphens), else a new one.
    fn of(headers: &HeaderMap) -> RequestId {
        match headers
            .get(REQUEST_ID)
            .and_then(|header| Some((header, Uuid::try_parse_ascii(header.as_bytes()).ok()?)))
        {
            Some((header, uuid)) => RequestId { header: header.clone(), uuid },
            None => RequestId::random(),
        }
    }

    /// It may be predictable, so no entropy of the system is used.
    fn random() -> RequestId {
        let uuid = uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid();
        let header = HeaderValue::from_str(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
        RequestId { header: header.unwrap_or(HeaderValue::from_static("")), uuid }
    }
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

    use proptest::prelude::*;

    use super::*;

    fn id_of(value: &'static str) -> RequestId {
        RequestId::of(&HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_static(value))]))
    }

    #[test]
    fn a_request_id_that_is_a_uuid_is_kept_as_written() {
        for value in ["0192f0c1-2222-7abc-8def-0123456789ab", "0192F0C122227ABC8DEF0123456789AB"] {
            let id = id_of(value);
            assert_eq!(id.header, value);
            assert_eq!(id.uuid.to_string(), "0192f0c1-2222-7abc-8def-0123456789ab");
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_like_others() {
        let panics = axum::routing::get(async || -> Response { panic!("secret") });
        let router = axum::Router::new().route("/", panics).layer(axum::middleware::from_fn(wrap));
        let response = router.oneshot(Request::new(Body::empty())).await.expect("an answer");
        assert_eq!(response.status(), 500);
        let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        assert!(body.starts_with(b"{\"type\":") && !body.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn any_other_request_id_is_replaced() {
        for value in ["", "42", "not a uuid"] {
            let id = id_of(value);
            assert_eq!(id.header.to_str().ok(), Some(id.uuid.to_string().as_str()));
        }
    }

    proptest! {
        #[test]
        fn a_request_id_is_the_callers_uuid_or_ours(value in prop_oneof![
            prop::collection::vec(prop_oneof![0x20..=0x7e_u8, 0x80..=0xff_u8], 0..50),
            any::<u128>().prop_map(|it| Uuid::from_u128(it).hyphenated().to_string().into_bytes()),
            "[{(]?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}[})]?".prop_map(String::into_bytes),
        ]) {
            let header = HeaderValue::from_bytes(&value).expect("a value");
            let id = RequestId::of(&HeaderMap::from_iter([(REQUEST_ID, header)]));
            let shown = id.header.to_str().ok().and_then(|text| Uuid::parse_str(text).ok());
            prop_assert_eq!(shown, Some(id.uuid));
            prop_assert_eq!(id.header.as_bytes() == value.as_slice(), Uuid::try_parse_ascii(&value).is_ok());
        }
    }
}
