//! The options of a client's connection.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::outgoing::limit_unsent;

/// How long a connection may be idle before its peer is probed.
const IDLE: Duration = Duration::from_secs(60);

/// How long the peer may leave sent data unacknowledged. A slow reader has no room for longer than the rate of a response
/// suggests: its system tells of room only when there is much.
const SILENCE: Duration = Duration::from_secs(180);

/// Enables TCP keepalive and the user timeout.
pub(crate) fn prepare(stream: &TcpStream) {
    // An answer is written in one piece, so waiting to fill a packet would only delay it.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(IDLE).with_interval(Duration::from_secs(15)).with_retries(4);
    let _ = socket.set_tcp_keepalive(&probes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
    limit_unsent(stream);
}
