//! A connection with timeouts: the client must send the head of its first request in time, and read responses at the
//! minimum rate. Otherwise the connection is closed, and its buffers are freed.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::min_rate::MinRate;

/// How long the peer may leave sent data unacknowledged.
const SILENCE: Duration = Duration::from_secs(60);

/// Enables TCP keepalive and the user timeout.
pub(crate) fn prepare(stream: &TcpStream) {
    // An answer is written in one piece, so waiting to fill a packet would only delay it.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let probes =
        TcpKeepalive::new().with_time(SILENCE).with_interval(Duration::from_secs(15)).with_retries(4);
    let _ = socket.set_tcp_keepalive(&probes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
}

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
    rate: MinRate,
    begun: Begun,
    /// Until the first byte, and from then on until the first head is whole.
    head: Option<Pin<Box<Sleep>>>,
    /// How long the head of a request may take after its first byte.
    head_timeout: Duration,
    has_begun_head: bool,
    /// While the other side does not take what is written.
    jam: Option<Jam>,
    /// Whether the latest attempt to write found no room.
    is_full: bool,
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
    ) -> Watched<S> {
        let head = Some(Box::pin(sleep(silence)));
        Watched { stream, rate, begun, head, head_timeout, has_begun_head: false, jam: None, is_full: false }
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
                self.is_full = true;
                let stall = self.rate.stall;
                let jam = self.jam.get_or_insert_with(|| Jam { end: Box::pin(sleep(stall)), taken: 0 });
                ready!(jam.end.as_mut().poll(context));
                if (jam.taken as f64) < self.rate.bytes_per_second as f64 * stall.as_secs_f64() {
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

fn too_slow(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
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
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    fn watched(bytes_per_second: usize, stall: Duration) -> (Watched<DuplexStream>, DuplexStream, Begun) {
        let (ours, theirs) = duplex(1000);
        let begun = Begun::default();
        let rate = MinRate { bytes_per_second, stall };
        (Watched::new(ours, rate, 3 * SOON, SOON, begun.clone()), theirs, begun)
    }

    #[tokio::test]
    async fn a_head_that_is_not_finished_ends_the_connection() {
        let (mut ours, mut theirs, _) = watched(1, SOON);
        let mut byte = [0];
        // Until its first byte a connection may say nothing for a while.
        assert!(tokio::time::timeout(2 * SOON, ours.read(&mut byte)).await.is_err());
        theirs.write_all(b"GET").await.expect("there is room");
        while ours.read(&mut byte).await.is_ok() {}
    }

    #[tokio::test]
    async fn a_connection_that_says_nothing_ends() {
        let (mut ours, _theirs, _) = watched(1, SOON);
        assert!(ours.read(&mut [0]).await.is_err());
    }

    #[tokio::test]
    async fn after_a_handshake_a_connection_may_say_nothing_for_as_long_again() {
        let (mut ours, mut theirs, _) = watched(1, SOON);
        theirs.write_all(b"x").await.expect("there is room");
        let mut byte = [0];
        ours.read_exact(&mut byte).await.expect("a byte came");
        ours.wait_again(20 * SOON);
        assert!(tokio::time::timeout(3 * SOON, ours.read(&mut byte)).await.is_err());
    }

    #[tokio::test]
    async fn once_a_request_has_begun_its_body_is_not_watched_here() {
        let (mut ours, mut theirs, begun) = watched(1, SOON);
        theirs.write_all(b"x").await.expect("there is room");
        let mut byte = [0];
        ours.read_exact(&mut byte).await.expect("a byte came");
        begun.set();
        assert!(tokio::time::timeout(3 * SOON, ours.read(&mut byte)).await.is_err());
    }

    #[tokio::test]
    async fn an_answer_that_is_not_taken_ends_the_connection() {
        let (mut ours, _theirs, _) = watched(1_000_000, SOON);
        assert!(ours.write_all(&[0; 100_000]).await.is_err());
    }

    #[tokio::test]
    async fn an_answer_may_be_taken_as_slowly_as_the_least_rate() {
        let (mut ours, mut theirs, _) = watched(1, SOON);
        let reader = tokio::spawn(async move {
            let mut taken = vec![0; 1000];
            for _ in 0..10 {
                sleep(SOON / 2).await;
                theirs.read_exact(&mut taken).await.expect("the answer goes on");
            }
        });
        ours.write_all(&[0; 10_000]).await.expect("it is taken");
        reader.await.expect("all of it came");
    }
}
