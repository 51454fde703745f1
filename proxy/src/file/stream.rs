//! A streamed response. A client that stops reading times out, because the producer holds a database connection and a snapshot.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use keyed_errors::Code;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::problem::Problem;

/// Sends the chunks of a response.
#[derive(Clone)]
pub(crate) struct ChunkSender {
    sender: mpsc::Sender<io::Result<Bytes>>,
    /// The timeout of a chunk.
    patience: Duration,
    is_whole: Arc<AtomicBool>,
}

/// Returns a sender and a body with a buffer of `ahead` chunks. Unless [`ChunkSender::finish`] is called, the body ends
/// with an error.
pub(crate) fn chunks(ahead: usize, patience: Duration) -> (ChunkSender, Body) {
    let (sender, received) = mpsc::channel(ahead);
    let chunks = ChunkSender { sender, patience, is_whole: Arc::default() };
    let is_whole = Arc::clone(&chunks.is_whole);
    let end = stream::once(async move { is_whole.load(Ordering::Acquire) }).filter_map(|is_whole| {
        ready((!is_whole).then(|| Err(io::Error::other("the response is incomplete"))))
    });
    (chunks, Body::from_stream(ReceiverStream::new(received).chain(end)))
}

impl ChunkSender {
    /// Sends a chunk.
    pub(crate) async fn send(&self, chunk: impl Into<Bytes>) -> Result<(), Problem> {
        self.send_within(chunk, self.patience).await
    }

    /// Sends a chunk with a timeout.
    pub(crate) async fn send_within(
        &self,
        chunk: impl Into<Bytes>,
        patience: Duration,
    ) -> Result<(), Problem> {
        self.sender.send_timeout(Ok(chunk.into()), patience.min(self.patience)).await.map_err(|_| {
            Problem::new(Code::RequestTimeout, "the response was not read in time")
                .with_hint("Read the response while it arrives, even while you are still sending the file.")
        })
    }

    /// Sends a chunk if the buffer is not full.
    pub(crate) fn offer(&self, chunk: impl Into<Bytes>) {
        let _ = self.sender.try_send(Ok(chunk.into()));
    }

    /// Marks the response as complete.
    pub(crate) fn finish(&self) {
        self.is_whole.store(true, Ordering::Release);
    }

    /// Waits until the client disconnects.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn unfinished_response_is_aborted() {
        for is_whole in [true, false] {
            let (chunks, body) = chunks(2, Duration::from_secs(1));
            chunks.send("a").await.expect("there is room");
            if is_whole {
                chunks.finish();
            }
            drop(chunks);
            assert_eq!(body.collect().await.is_ok(), is_whole);
        }
    }

    #[tokio::test]
    async fn client_that_does_not_read_times_out() {
        let (chunks, body) = chunks(1, Duration::from_millis(10));
        chunks.send("a").await.expect("there is room");
        assert!(chunks.send("b").await.is_err());
        drop(chunks);
        assert!(body.collect().await.is_err());
    }
}
