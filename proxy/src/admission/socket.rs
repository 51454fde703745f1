//! A connection with timeouts: the client must send the head of its first request in time, and read responses at the
//! minimum rate. Otherwise, the connection is closed and its buffers are freed.

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

/// The time that a request may take after its peer has closed the sending side. Afterwards, the peer is assumed to be
/// gone, and the request is aborted.
const HALF_CLOSED: Duration = Duration::from_secs(5);

/// The maximum size of the unsent part of a response in the buffers of the kernel and of hyper.
const TAIL: usize = 192 << 10;

/// The minimum and maximum interval at which the send buffer is polled.
const POLL_INTERVALS: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// Whether a complete request head has arrived on a connection.
#[derive(Clone, Default)]
pub(crate) struct HeadReceived(Arc<AtomicBool>);

impl HeadReceived {
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
    /// Whether all written bytes have been passed to the kernel.
    is_flushed: bool,
    /// The timer for the next poll of the send buffer, and its interval.
    poll_timer: Option<(Pin<Box<Sleep>>, Duration)>,
    rate: MinRate,
    head_received: HeadReceived,
    /// The timeout until the first byte, and then until the first head is complete.
    head: Option<Pin<Box<Sleep>>>,
    /// The timeout of a request head after its first byte.
    head_timeout: Duration,
    has_begun_head: bool,
    /// Set while the peer does not read.
    stall_timer: Option<StallTimer>,
    /// Whether the last write would have blocked.
    is_full: bool,
    /// The timeout of a request whose peer has closed the sending side.
    half_closed: Option<Pin<Box<Sleep>>>,
    /// For the last bytes of a large response: the number of the response, the deadline, and the bytes written on the
    /// connection when the deadline was set.
    tail_end: Option<(u64, Instant, u64)>,
}

/// The stall timer, and the bytes that the peer has read since it started.
struct StallTimer {
    end: Pin<Box<Sleep>>,
    taken: usize,
}

impl<S> Watched<S> {
    /// A new connection, on which the first byte must arrive within `silence`.
    pub(crate) fn new(
        stream: S,
        rate: MinRate,
        silence: Duration,
        head_timeout: Duration,
        head_received: HeadReceived,
        link: Link,
    ) -> Watched<S> {
        let head = Some(Box::pin(sleep(silence)));
        Watched {
            stream,
            link,
            is_flushed: true,
            poll_timer: None,
            rate,
            head_received,
            head,
            head_timeout,
            has_begun_head: false,
            stall_timer: None,
            is_full: false,
            half_closed: None,
            tail_end: None,
        }
    }

    /// Restarts the timeouts after the TLS handshake.
    pub(crate) fn restart_timeouts(&mut self, silence: Duration) {
        self.head = Some(Box::pin(sleep(silence)));
        self.has_begun_head = false;
    }

    /// Applies the minimum rate to a write.
    fn wrote(
        &mut self,
        written: Poll<io::Result<usize>>,
        requested: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                (self.is_flushed, self.half_closed) = (false, None);
                self.link.wrote(bytes);
                let was_full = std::mem::take(&mut self.is_full);
                match &mut self.stall_timer {
                    Some(stall_timer) if was_full && bytes < requested => {
                        stall_timer.taken = stall_timer.taken.saturating_add(bytes);
                    }
                    // The write completed without blocking, or there was nothing to write, so no timeout is needed.
                    _ => self.stall_timer = None,
                }
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => {
                (self.is_full, self.is_flushed) = (true, false);
                let stall = self.rate.stall;
                let stall_timer = self
                    .stall_timer
                    .get_or_insert_with(|| StallTimer { end: Box::pin(sleep(stall)), taken: 0 });
                ready!(stall_timer.end.as_mut().poll(context));
                if (stall_timer.taken as f64) < self.rate.bytes_per_second as f64 * stall.as_secs_f64() {
                    self.link.cut();
                    return Poll::Ready(Err(too_slow("the response is not being read")));
                }
                stall_timer.taken = 0;
                stall_timer.end.as_mut().reset(Instant::now() + stall);
                // Registers the waker with the new deadline.
                let _ = stall_timer.end.as_mut().poll(context);
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
    /// Checks whether the peer has closed the sending side while it waits for a response. It may have only half-closed
    /// the connection, so the request is aborted only after a failed write or the timeout.
    fn poll_half_close(&mut self, context: &mut Context<'_>) -> io::Result<()> {
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

    /// Ends a large response when its last bytes have been sent. Until then, it polls the send buffer.
    fn poll_tail(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(number) = self.link.tail() else {
            (self.tail_end, self.poll_timer) = (None, None);
            return Poll::Ready(Ok(()));
        };
        loop {
            if self.is_flushed && self.stream.is_sent() {
                (self.tail_end, self.poll_timer) = (None, None);
                self.link.arrived();
                return Poll::Ready(Ok(()));
            }
            let (end, written) = match self.tail_end {
                Some((earlier, end, written)) if earlier == number => (end, written),
                _ => (Instant::now() + self.rate.stall + self.rate.time_for(TAIL), self.link.written()),
            };
            self.tail_end = Some((number, end, written));
            // Bytes are sent in order. When the next response has written more than the buffers can hold, this one has
            // been sent.
            if self.link.written() - written > TAIL as u64 {
                (self.tail_end, self.poll_timer) = (None, None);
                self.link.arrived();
                return Poll::Ready(Ok(()));
            }
            if Instant::now() >= end {
                self.link.cut();
                return Poll::Ready(Err(too_slow("the end of the response is not being read")));
            }
            let [first, longest] = POLL_INTERVALS;
            let (timer, pause) = self.poll_timer.get_or_insert_with(|| (Box::pin(sleep(first)), first));
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
        if self.head_received.is_set() {
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
        self.poll_half_close(context)?;
        let flushed = self.flush_to_kernel(context)?;
        // Until the next request arrives, only this call checks the end of the last response.
        if let Poll::Ready(Err(error)) = self.poll_tail(context) {
            return Poll::Ready(Err(error));
        }
        flushed.map(Ok)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // TLS may still buffer bytes that were not flushed before.
        let _ = self.flush_to_kernel(context)?;
        // After the socket is closed, it is unknown whether the last bytes have been sent.
        ready!(self.poll_tail(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Flushes all written bytes to the kernel.
    fn flush_to_kernel(&mut self, context: &mut Context<'_>) -> io::Result<Poll<()>> {
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
