//! What a peer has taken of what was written to it.

use std::io;
use std::task::{Context, Poll};

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use socket2::SockRef;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

/// How many bytes the system keeps that it cannot send yet. Beyond them, the rest of a response waits in this process, where it is
/// counted.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 64 << 10;

/// Bounds what the system keeps of what is written.
pub(super) fn limit_unsent(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_notsent_lowat(UNSENT);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
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
