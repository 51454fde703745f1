//! Compresses large responses for clients that accept it.

use std::convert::Infallible;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use hyper::body::Body as _;
use tokio::sync::OnceCell;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

use crate::conditional::mark_compressed;
use crate::packing::offload;
use crate::preference::{weight_of, weighted};

/// A smaller response fits into one packet without compression.
const MIN_SIZE: u64 = 1024;

/// The supported encodings, best first.
const ENCODINGS: [&str; 2] = ["br", "gzip"];

/// The negotiated encoding of large responses.
pub(crate) struct Accepted(Option<&'static str>);

impl Accepted {
    /// Negotiates the encoding. A client that accepts no encoding, not even identity, gets an uncompressed response:
    /// the request may already have had its effect, which 406 would deny.
    pub(crate) fn of(headers: &HeaderMap) -> Accepted {
        if !headers.contains_key(header::ACCEPT_ENCODING) {
            return Accepted(None);
        }
        let list = weighted(headers, header::ACCEPT_ENCODING);
        let plain = weight_of(&list, &["identity"]).unwrap_or(1);
        let weight = |name: &str| weight_of(&list, &[name, "*"]).filter(|weight| *weight >= plain.max(1));
        let candidates = ENCODINGS.into_iter().filter_map(|name| Some((name, weight(name)?)));
        // If weights are equal, the first wins.
        Accepted(candidates.rev().max_by_key(|(_, weight)| *weight).map(|(name, _)| name))
    }

    /// Whether an encoding is accepted.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// Compresses the response of this caller if it is large. Only large responses pass through the compression layer:
    /// around all routes, it would cost each response more than its routing.
    pub(crate) async fn compress(
        self,
        response: Response,
        caller: impl FnOnce() -> Option<String>,
    ) -> Response {
        if response.body().size_hint().lower() <= MIN_SIZE {
            return response;
        }
        self.compress_stream(response, caller()).await
    }

    /// Compresses a response of unknown size.
    pub(crate) async fn compress_stream(self, response: Response, caller: Option<String>) -> Response {
        // Most responses are sent only once, so the fastest level is best.
        self.compress_with(CompressionLevel::Fastest, response, caller).await
    }

    async fn compress_with(
        self,
        quality: CompressionLevel,
        response: Response,
        caller: Option<String>,
    ) -> Response {
        let Accepted(Some(encoding)) = self else { return response };
        let is_in_memory = response.body().size_hint().exact().is_some();
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        let mut response = Some(response);
        let response = service_fn(move |_: Request| {
            let response = response.take().unwrap_or_default();
            async { Ok::<_, Infallible>(response) }
        });
        match CompressionLayer::new().quality(quality).layer(response).oneshot(request).await {
            Ok(response) => {
                let mut response = response.map(|body| match body.is_end_stream() {
                    true => Body::empty(),
                    false => offload(Body::new(body), is_in_memory, caller),
                });
                mark_compressed(&mut response);
                response
            }
            Err(never) => match never {},
        }
    }
}

/// Constants are compressed once, so they use a high level. At higher levels, brotli takes seconds for a small gain.
const CONSTANT_QUALITY: CompressionLevel = CompressionLevel::Precise(9);

/// Constant content, which is compressed once per encoding.
pub(crate) struct Constant {
    content: &'static [u8],
    packed: [OnceCell<Bytes>; ENCODINGS.len()],
}

impl Constant {
    pub(crate) const fn new(content: &'static [u8]) -> Constant {
        Constant { content, packed: [const { OnceCell::const_new() }; ENCODINGS.len()] }
    }

    /// The uncompressed content.
    #[cfg(feature = "ui")]
    pub(crate) fn plain(&self) -> &'static [u8] {
        self.content
    }

    /// The response in the accepted encoding.
    pub(crate) async fn response(&self, accepted: &Accepted) -> Response {
        let encoding = accepted.0.filter(|_| self.content.len() as u64 > MIN_SIZE);
        let number = encoding.and_then(|encoding| ENCODINGS.iter().position(|name| *name == encoding));
        let Some(number) = number else {
            return Response::new(Body::from(self.content));
        };
        let compress = async || {
            let response = Response::new(Body::from(self.content));
            let packed =
                Accepted(Some(ENCODINGS[number])).compress_with(CONSTANT_QUALITY, response, None).await;
            // Reading from memory cannot fail.
            to_bytes(packed.into_body(), usize::MAX).await.unwrap_or_default()
        };
        let packed = self.packed[number].get_or_init(compress).await.clone();
        let mut response = Response::new(Body::from(packed));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(ENCODINGS[number]));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The encoding of a response of this size.
    async fn encoding(accepted: Option<&'static str>, size: usize) -> Option<HeaderValue> {
        let headers = accepted.map(|value| (header::ACCEPT_ENCODING, HeaderValue::from_static(value)));
        let response = Response::new(Body::from(" ".repeat(size)));
        let packed = Accepted::of(&headers.into_iter().collect()).compress(response, || None).await;
        assert_eq!(packed.status(), 200, "{accepted:?}");
        packed.headers().get(header::CONTENT_ENCODING).cloned()
    }

    #[tokio::test]
    async fn large_response_is_compressed_on_request() {
        assert_eq!(encoding(Some("gzip"), 1025).await, Some(HeaderValue::from_static("gzip")));
        assert_eq!(encoding(Some("br"), 1025).await, Some(HeaderValue::from_static("br")));
        assert_eq!(encoding(Some("gzip;q=0"), 1025).await, None);
        assert_eq!(encoding(Some("gzip"), 1024).await, None);
        assert_eq!(encoding(None, 1025).await, None);
    }

    #[tokio::test]
    async fn large_constant_is_compressed() {
        static CONTENT: [u8; 2000] = [b'x'; 2000];
        let accepts = |value| {
            Accepted::of(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        for (content, accepted, expected) in [
            (&CONTENT[..], "br, gzip", Some("br")),
            (&CONTENT[..], "gzip", Some("gzip")),
            (&CONTENT[..], "identity", None),
            (&CONTENT[..1024], "br, gzip", None),
        ] {
            let response = Constant::new(content).response(&accepts(accepted)).await;
            assert_eq!(
                response.headers().get(header::CONTENT_ENCODING),
                expected.map(HeaderValue::from_static).as_ref()
            );
            let length = to_bytes(response.into_body(), usize::MAX).await.expect("in memory").len();
            assert!(if expected.is_some() { length < 100 } else { length == content.len() }, "{length}");
        }
    }

    #[tokio::test]
    async fn best_accepted_encoding_is_used() {
        for (accepted, expected) in [
            ("*;q=0", None),
            ("identity;q=0", None),
            ("identity;q=0, *;q=0", None),
            ("deflate, zstd", None),
            ("gzip;q=0, *", Some("br")),
            ("br;q=0, gzip, identity;q=0", Some("gzip")),
            ("gzip, br", Some("br")),
            ("gzip;q=0.9, br;q=0.8", Some("gzip")),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some("gzip")),
            ("x;q=, ,", None),
            ("*", Some("br")),
        ] {
            let expected = expected.map(HeaderValue::from_static);
            assert_eq!(encoding(Some(accepted), 2000).await, expected, "{accepted}");
        }
    }

    proptest! {
        #[test]
        fn response_has_an_accepted_encoding(value in "((gzip|br|identity|\\*|x)(;q=(0|1|0\\.[0-9]))?,? ?){0,5}") {
            let header = HeaderValue::from_str(&value).expect("a value");
            let accepted = Accepted::of(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, header)]));
            if let Some(encoding) = accepted.0 {
                prop_assert!(value.contains(encoding) || value.contains('*'), "{encoding} for {value}");
                prop_assert!(!value.starts_with(&format!("{encoding};q=0,")), "{encoding} for {value}");
            }
        }
    }
}
