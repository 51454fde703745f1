//! The bodies of request and response, counted on their way.

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
    /// When the body was asked for. Empty before that, and after its end.
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

/// The body of a response. The request ends when all of it was handed to the connection, or when it is dropped.
pub(crate) struct Sent<B: HttpBody = Body> {
    body: B,
    finish: Option<Finish>,
}

impl<B: HttpBody> Sent<B> {
    pub(super) fn new(body: B, finish: Finish) -> Sent<B> {
        Sent { body, finish: Some(finish) }
    }

    fn end(&mut self, ended: Ended) {
        if let Some(finish) = self.finish.take() {
            finish.finish(ended);
        }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Sent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(finish) = &mut self.finish {
                    finish.sent += frame.data_ref().map_or(0, Bytes::len) as u64;
                }
            }
            Some(Err(_)) => self.end(Ended::BrokenOff),
            None => self.end(Ended::Complete),
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

impl<B: HttpBody> Drop for Sent<B> {
    fn drop(&mut self) {
        // A body whose last frame was sent is often not asked whether there is another.
        let is_complete = self.body.is_end_stream() || self.body.size_hint().exact() == Some(0);
        self.end(if is_complete { Ended::Complete } else { Ended::ClientGone });
    }
}
