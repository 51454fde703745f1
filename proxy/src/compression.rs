//! Packs large answers for callers that can unpack them.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use hyper::body::Body as _;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

/// A smaller answer fits one packet either way.
const WORTHWHILE: u64 = 1024;

/// What the caller says it can unpack, kept while the request is worked on.
pub(crate) struct Accepted(Option<HeaderValue>);

impl Accepted {
    pub(crate) fn of(headers: &HeaderMap) -> Accepted {
        Accepted(headers.get(header::ACCEPT_ENCODING).cloned())
    }

    /// Packs the answer if it is large. The layer is put around such answers only: around all routes it would cost every
    /// answer more than its whole routing does.
    pub(crate) async fn pack(self, response: Response) -> Response {
        let Accepted(Some(encodings)) = self else { return response };
        if response.body().size_hint().lower() <= WORTHWHILE {
            return response;
        }
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(header::ACCEPT_ENCODING, encodings);
        let mut response = Some(response);
        let answer = service_fn(move |_: Request| {
            let response = response.take().unwrap_or_default();
            async { Ok::<_, Infallible>(response) }
        });
        // Answers are made once and sent once, so the quickest packing is the best.
        let packing = CompressionLayer::new().quality(CompressionLevel::Fastest);
        match packing.layer(answer).oneshot(request).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The encoding of an answer of that size.
    async fn encoding(accepted: Option<&'static str>, size: usize) -> Option<HeaderValue> {
        let headers = accepted.map(|value| (header::ACCEPT_ENCODING, HeaderValue::from_static(value)));
        let answer = Response::new(Body::from(" ".repeat(size)));
        Accepted::of(&headers.into_iter().collect())
            .pack(answer)
            .await
            .headers()
            .get(header::CONTENT_ENCODING)
            .cloned()
    }

    #[tokio::test]
    async fn only_large_answers_are_packed_and_only_when_asked() {
        assert_eq!(encoding(Some("gzip"), 1025).await, Some(HeaderValue::from_static("gzip")));
        assert_eq!(encoding(Some("br"), 1025).await, Some(HeaderValue::from_static("br")));
        assert_eq!(encoding(Some("gzip;q=0"), 1025).await, None);
        assert_eq!(encoding(Some("gzip"), 1024).await, None);
        assert_eq!(encoding(None, 1025).await, None);
    }
}
