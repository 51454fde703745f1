//! The TLS handshake of a connection, with the timeout of a request head.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::rejection;
use crate::admission::socket::Watched;
use keyed_service::shutdown::{Shutdown, Step};

/// The first byte of a TLS connection: the record type handshake.
const HANDSHAKE: u8 = 22;

/// The maximum time of a handshake that is running when the service stops.
const HANDSHAKE_GRACE: Duration = Duration::from_secs(1);

async fn late(shutdown: &Shutdown) {
    shutdown.reached(Step::Finishing).await;
    sleep(HANDSHAKE_GRACE).await;
}

/// Performs the handshake. The connection may be idle for `silence` before and after it. The handshake must complete
/// within the timeout of the request head.
pub(super) async fn begin(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    silence: Duration,
    watched: impl FnOnce(TcpStream) -> Watched<TcpStream>,
    shutdown: &Shutdown,
) -> io::Result<TlsStream<Watched<TcpStream>>> {
    let mut first = [0];
    // An idle client is not waited for when the service stops.
    let count = tokio::select! {
        count = timeout(silence, stream.peek(&mut first)) => count??,
        () = shutdown.reached(Step::Finishing) => 0,
    };
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if first != [HANDSHAKE] {
        // Only plain HTTP can be answered; other protocols are unknown.
        if first[0].is_ascii_uppercase() {
            rejection::plain(stream).await;
        }
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not speak TLS"));
    }
    let mut stream = tokio::select! {
        stream = acceptor.accept(watched(stream)) => stream?,
        () = late(shutdown) => return Err(io::ErrorKind::TimedOut.into()),
    };
    stream.get_mut().0.restart_timeouts(silence);
    Ok(stream)
}
