//! Connections of clients: their options, and what a peer has received.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

/// How long a connection may be idle before its peer is probed.
const IDLE: Duration = Duration::from_secs(60);

/// How long the peer may leave sent data unacknowledged. A slow reader may announce a full window for
/// longer than the rate of a response suggests: its system announces space only when there is much.
const SILENCE: Duration = Duration::from_secs(180);

/// The bytes that the system buffers beyond those in flight. The rest of a response waits in this process, where it is counted.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 64 << 10;

/// Enables TCP keepalive and the user timeout.
pub(crate) fn prepare(stream: &TcpStream) {
    // An answer is written in one piece, so waiting to fill a packet would only delay it.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(IDLE).with_interval(Duration::from_secs(15)).with_retries(4);
    let _ = socket.set_tcp_keepalive(&probes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(UNSENT);
}

/// A stream that knows whether its peer has taken what was written.
pub(crate) trait Outgoing {
    /// Whether all bytes have been sent.
    fn is_sent(&self) -> bool;

    /// Whether the peer has closed its side. It is not known while there is something to read.
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
        // With this bound, it is ready for more only when nothing waits to be sent.
        if socket.set_tcp_notsent_lowat(1).is_err() {
            return true;
        }
        let mut looked = [PollFd::new(self, PollFlags::OUT)];
        let ready = poll(&mut looked, Some(&Timespec::default()));
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
        ready.map_or(true, |count| count > 0)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_sent(&self) -> bool {
        true
    }
}
