//! Drains a body that is not needed (lingering close).
//!
//! A request is often rejected before its body is read, for example because of an invalid token or a body that is too
//! large. If the connection were closed then, a client that is still sending would get a reset instead of the response.
//! The rest of the body is therefore read and discarded while the response is sent, within limits.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

const MAX_BYTES: usize = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(2);

/// Has the body drained if the handler of the request does not read it completely.
pub(crate) fn linger(request: Request) -> Request {
    // A client that sends Expect: 100-continue does not send the body after an error.
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return request;
    }
    request.map(|body| Body::new(Lingering { body: Some(body) }))
}

struct Lingering {
    /// `None` after the end.
    body: Option<Body>,
}

impl HttpBody for Lingering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        match (self.body.take(), Handle::try_current()) {
            (Some(body), Ok(runtime)) if !body.is_end_stream() => {
                runtime.spawn(timeout(MAX_TIME, discard(body)));
            }
            _ => {}
        }
    }
}

async fn discard(mut body: Body) {
    let mut room = MAX_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        match room.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => room = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{StreamExt, stream};

    use super::*;

    /// The number of chunks, out of three, that are read of a body that the handler drops.
    async fn taken(headers: &[(&str, &str)]) -> usize {
        let taken = Arc::new(AtomicUsize::new(0));
        let count = taken.clone();
        let chunks = stream::iter(0..3).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>("chunk")
        });
        let request =
            headers.iter().fold(Request::builder(), |request, (name, value)| request.header(*name, *value));
        drop(linger(request.body(Body::from_stream(chunks)).expect("a request")));
        tokio::task::yield_now().await;
        taken.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn rejected_body_is_drained() {
        assert_eq!(taken(&[]).await, 3);
    }

    #[tokio::test]
    async fn rejected_body_is_not_requested() {
        assert_eq!(taken(&[("expect", "100-continue")]).await, 0);
    }
}
