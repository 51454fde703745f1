//! Wrappers that count the bytes of request and response bodies.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::facts::{Ended, Step};
use super::finish::Finish;
use super::observed::Observation;

/// The body of a request.
pub(super) struct Received<B> {
    body: B,
    observation: Observation,
    /// When the body was first polled. `None` before that and after the end.
    began: Option<Instant>,
    is_over: bool,
}

impl<B> Received<B> {
    pub(super) fn new(body: B, observation: Observation) -> Received<B> {
        Received { body, observation, began: None, is_over: false }
    }

    fn end(&mut self) {
        self.is_over = true;
        if let Some(began) = self.began.take() {
            self.observation.phase(Step::Receive, began);
        }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Received<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.began.is_none() && !self.is_over {
            self.began = Some(Instant::now());
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => self.observation.receive(frame.data_ref().map_or(0, Bytes::len)),
            Some(Err(_)) | None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Received<B> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The maximum number of bytes that are passed to the connection at a time. It polls the next bytes when it has sent
/// most of them, so that the rest of a large response still counts for its request.
pub(super) const FRAME: usize = 64 << 10;

/// The body of a response. The request ends when the body has been passed to the connection, or, for a large response,
/// when all bytes have been sent; at the latest, when the body is dropped.
pub(crate) struct Sent<B: HttpBody = Body> {
    body: B,
    /// The rest of the last frame.
    rest: Bytes,
    finish: Option<Finish>,
}

impl<B: HttpBody> Sent<B> {
    pub(super) fn new(body: B, finish: Finish) -> Sent<B> {
        Sent { body, rest: Bytes::new(), finish: Some(finish) }
    }

    fn is_over(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Sent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Some(Err(error)) => {
                    if let Some(finish) = self.finish.take() {
                        finish.finish(Ended::BrokenOff);
                    }
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    if let Some(finish) = self.finish.take() {
                        finish.handed_over();
                    }
                    return Poll::Ready(None);
                }
            }
        }
        let size = self.rest.len().min(FRAME);
        let piece = self.rest.split_to(size);
        if let Some(finish) = &mut self.finish {
            finish.sends(size);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, hint) = (self.rest.len() as u64, self.body.size_hint());
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}

impl<B: HttpBody> Drop for Sent<B> {
    fn drop(&mut self) {
        let Some(finish) = self.finish.take() else { return };
        // After the last frame, hyper often does not poll the body again.
        if self.is_over() || self.rest.is_empty() && self.body.size_hint().exact() == Some(0) {
            finish.handed_over();
        } else {
            finish.interrupted();
        }
    }
}
