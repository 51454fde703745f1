//! The TLS handshake of a connection, within the time of a request's head.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::refusal;
use crate::admission::socket::Watched;
use keyed_service::shutdown::{Shutdown, Step};

/// The first byte of a TLS connection: a record of the type handshake.
const HANDSHAKE: u8 = 22;

/// How long a handshake may take that has begun when the service ends.
const LAST_HANDSHAKES: Duration = Duration::from_secs(1);

async fn late(shutdown: &Shutdown) {
    shutdown.reached(Step::Finishing).await;
    sleep(LAST_HANDSHAKES).await;
}

/// Shakes hands. A connection may be silent for as long as `silence`, before the handshake and after it; `watched` begins to
/// watch over the head, of which the handshake is the first part.
pub(super) async fn begin(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    silence: Duration,
    watched: impl FnOnce(TcpStream) -> Watched<TcpStream>,
    shutdown: &Shutdown,
) -> io::Result<TlsStream<Watched<TcpStream>>> {
    let mut first = [0];
    // Who has said nothing when the service ends is not waited for.
    let count = tokio::select! {
        count = timeout(silence, stream.peek(&mut first)) => count??,
        () = shutdown.reached(Step::Finishing) => 0,
    };
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if first != [HANDSHAKE] {
        // Other than of a browser's or a program's HTTP, nothing can be said of what it is.
        if first[0].is_ascii_uppercase() {
            refusal::plain(stream).await;
        }
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not speak TLS"));
    }
    let mut stream = tokio::select! {
        stream = acceptor.accept(watched(stream)) => stream?,
        () = late(shutdown) => return Err(io::ErrorKind::TimedOut.into()),
    };
    stream.get_mut().0.wait_again(silence);
    Ok(stream)
}
