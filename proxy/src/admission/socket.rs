//! A connection with timeouts: the client must send the head of its first request in time, and read responses at the
//! minimum rate. Otherwise the connection is closed, and its buffers are freed.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::min_rate::MinRate;
use super::tcp::Outgoing;
use crate::observation::Link;

/// How long a response may take after its peer has closed its side: then the peer is taken to have gone, and the request is
/// abandoned.
const HALF_CLOSED: Duration = Duration::from_secs(5);

/// What is at most left of a response that was handed over: in the system, and in the library for HTTP.
const TAIL: usize = 192 << 10;

/// The first and the longest pause between two looks whether all bytes are on their way.
const LOOKS: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// Whether a connection has brought a whole head of a request yet.
#[derive(Clone, Default)]
pub(crate) struct Begun(Arc<AtomicBool>);

impl Begun {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The connection.
pub(crate) struct Watched<S> {
    stream: S,
    link: Link,
    /// Whether all that was written is with the system.
    is_flushed: bool,
    /// The next look whether the last bytes of a large response are on their way, and the pause before it.
    look: Option<(Pin<Box<Sleep>>, Duration)>,
    rate: MinRate,
    begun: Begun,
    /// Until the first byte, and from then on until the first head is whole.
    head: Option<Pin<Box<Sleep>>>,
    /// How long the head of a request may take after its first byte.
    head_timeout: Duration,
    has_begun_head: bool,
    /// While the other side does not take what is written.
    jam: Option<Jam>,
    /// Whether the latest attempt to write would have blocked.
    is_full: bool,
    /// The end of the time for a response to a peer that sends no more.
    half_closed: Option<Pin<Box<Sleep>>>,
    /// Of which response the last bytes must be on their way, when, and how many bytes had been written when it was seen first.
    tail_end: Option<(u64, Instant, u64)>,
}

/// The timeout for the peer to read this many bytes.
struct Jam {
    end: Pin<Box<Sleep>>,
    taken: usize,
}

impl<S> Watched<S> {
    /// A new connection, which may say nothing for as long as `silence`.
    pub(crate) fn new(
        stream: S,
        rate: MinRate,
        silence: Duration,
        head_timeout: Duration,
        begun: Begun,
        link: Link,
    ) -> Watched<S> {
        let head = Some(Box::pin(sleep(silence)));
        Watched {
            stream,
            link,
            is_flushed: true,
            look: None,
            rate,
            begun,
            head,
            head_timeout,
            has_begun_head: false,
            jam: None,
            is_full: false,
            half_closed: None,
            tail_end: None,
        }
    }

    /// Another time of silence, and then one for the head: what came so far was a TLS handshake.
    pub(crate) fn wait_again(&mut self, silence: Duration) {
        self.head = Some(Box::pin(sleep(silence)));
        self.has_begun_head = false;
    }

    /// Watches over an attempt to write.
    fn wrote(
        &mut self,
        written: Poll<io::Result<usize>>,
        wanted: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                (self.is_flushed, self.half_closed) = (false, None);
                self.link.wrote(bytes);
                let was_full = std::mem::take(&mut self.is_full);
                match &mut self.jam {
                    Some(jam) if was_full && bytes < wanted => jam.taken = jam.taken.saturating_add(bytes),
                    // The write completed at once, or there is nothing to write: no timeout is needed.
                    _ => self.jam = None,
                }
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => {
                (self.is_full, self.is_flushed) = (true, false);
                let stall = self.rate.stall;
                let jam = self.jam.get_or_insert_with(|| Jam { end: Box::pin(sleep(stall)), taken: 0 });
                ready!(jam.end.as_mut().poll(context));
                if (jam.taken as f64) < self.rate.bytes_per_second as f64 * stall.as_secs_f64() {
                    self.link.cut();
                    return Poll::Ready(Err(too_slow("the answer is not being read")));
                }
                jam.taken = 0;
                jam.end.as_mut().reset(Instant::now() + stall);
                // Has the new time waited for.
                let _ = jam.end.as_mut().poll(context);
                Poll::Pending
            }
        }
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        self.link.closed();
    }
}

fn too_slow(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<S: Outgoing> Watched<S> {
    /// Looks whether the peer has closed its side while it waits for a response. It may only have said that it sends no more:
    /// whether it has gone shows when it is written to, or after a while.
    fn notice_end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if !self.link.is_awaited() {
            self.half_closed = None;
            return Ok(());
        }
        if self.half_closed.is_none() {
            match self.stream.poll_end(context) {
                Poll::Ready(Ok(true)) => self.half_closed = Some(Box::pin(sleep(HALF_CLOSED))),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Ready(Ok(false)) | Poll::Pending => return Ok(()),
            }
        }
        let end = self.half_closed.as_mut();
        match end.is_some_and(|end| end.as_mut().poll(context).is_ready()) {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }

    /// Ends a large response when its last bytes are on their way: until then it wakes the task from time to time.
    fn poll_tail(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(number) = self.link.tail() else {
            (self.tail_end, self.look) = (None, None);
            return Poll::Ready(Ok(()));
        };
        loop {
            if self.is_flushed && self.stream.is_sent() {
                (self.tail_end, self.look) = (None, None);
                self.link.arrived();
                return Poll::Ready(Ok(()));
            }
            let (end, written) = match self.tail_end {
                Some((earlier, end, written)) if earlier == number => (end, written),
                _ => (Instant::now() + self.rate.stall + self.rate.time_for(TAIL), self.link.written()),
            };
            self.tail_end = Some((number, end, written));
            // Bytes leave in their order, and enough of the next response have left that none of this one can wait.
            if self.link.written() - written > TAIL as u64 {
                (self.tail_end, self.look) = (None, None);
                self.link.arrived();
                return Poll::Ready(Ok(()));
            }
            if Instant::now() >= end {
                self.link.cut();
                return Poll::Ready(Err(too_slow("the end of the answer is not being read")));
            }
            let [first, longest] = LOOKS;
            let (timer, pause) = self.look.get_or_insert_with(|| (Box::pin(sleep(first)), first));
            ready!(timer.as_mut().poll(context));
            *pause = (*pause * 2).min(longest);
            timer.as_mut().reset(Instant::now() + *pause);
        }
    }
}

impl<S: AsyncRead + Outgoing + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Err(error)) = self.poll_tail(context) {
            return Poll::Ready(Err(error));
        }
        if self.begun.is_set() {
            self.head = None;
            return read;
        }
        if read.is_ready() && !self.has_begun_head {
            self.has_begun_head = true;
            let end = Instant::now() + self.head_timeout;
            if let Some(head) = self.head.as_mut() {
                head.as_mut().reset(end);
            }
        }
        if self.head.as_mut().is_some_and(|head| head.as_mut().poll(context).is_ready()) {
            return Poll::Ready(Err(too_slow("the request headers did not arrive in time")));
        }
        read
    }
}

impl<S: AsyncWrite + Outgoing + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(written, bytes.len(), context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        chunks: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, chunks);
        self.wrote(written, chunks.iter().map(|chunk| chunk.len()).sum(), context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.notice_end(context)?;
        let flushed = self.hand_over(context)?;
        // Before the next request has come, nothing else may look after the last response.
        if let Poll::Ready(Err(error)) = self.poll_tail(context) {
            return Poll::Ready(Err(error));
        }
        flushed.map(Ok)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // TLS may still hold bytes, for which it need not be asked to flush before.
        let _ = self.hand_over(context)?;
        // After the socket is closed, the outcome of the last bytes is unknown.
        ready!(self.poll_tail(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Hands all that was written to the system.
    fn hand_over(&mut self, context: &mut Context<'_>) -> io::Result<Poll<()>> {
        match Pin::new(&mut self.stream).poll_flush(context) {
            Poll::Ready(flushed) => flushed.map(|()| {
                self.is_flushed = true;
                Poll::Ready(())
            }),
            Poll::Pending => Ok(Poll::Pending),
        }
    }
}

#[cfg(test)]
mod tests;
