//! TCP options of client connections, and whether all bytes have been sent.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

/// The idle time before keepalive probes.
const IDLE: Duration = Duration::from_secs(60);

/// The TCP user timeout. It is long because a slow reader can announce a zero window for a while: its kernel opens the
/// window only when much space is free.
const SILENCE: Duration = Duration::from_secs(180);

/// The maximum number of unsent bytes in the kernel (TCP_NOTSENT_LOWAT). The rest of a response stays in this process,
/// where it is counted.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 64 << 10;

/// Enables TCP keepalive and the user timeout.
pub(crate) fn prepare(stream: &TcpStream) {
    // A response is written in one piece, so Nagle's algorithm would only delay it.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(IDLE).with_interval(Duration::from_secs(15)).with_retries(4);
    let _ = socket.set_tcp_keepalive(&probes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(UNSENT);
}

/// A stream that reports whether written bytes have been sent.
pub(crate) trait Outgoing {
    /// Whether all bytes have been sent.
    fn is_sent(&self) -> bool;

    /// Whether the peer has closed the sending side. Pending while there is something to read.
    fn poll_end(&self, context: &mut Context<'_>) -> Poll<io::Result<bool>>;
}

impl Outgoing for TcpStream {
    fn poll_end(&self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut byte = [0];
        self.poll_peek(context, &mut ReadBuf::new(&mut byte)).map_ok(|count| count == 0)
    }

    #[cfg(target_os = "linux")]
    fn is_sent(&self) -> bool {
        let socket = SockRef::from(self);
        // With a TCP_NOTSENT_LOWAT of 1, the socket is writable only when no bytes are unsent.
        if socket.set_tcp_notsent_lowat(1).is_err() {
            return true;
        }
        let mut polled = [PollFd::new(self, PollFlags::OUT)];
        let ready = poll(&mut polled, Some(&Timespec::default()));
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
        ready.map_or(true, |count| count > 0)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_sent(&self) -> bool {
        true
    }
}
