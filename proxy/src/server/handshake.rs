//! The TLS handshake of a connection, within the time of a request's head.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::refusal;
use crate::admission::socket::Watched;

/// The first byte of a TLS connection: a record of the type handshake.
const HANDSHAKE: u8 = 22;

/// Shakes hands. A connection may be silent for as long as `silence`, before the handshake and after it; `watched` begins to
/// watch over the head, of which the handshake is the first part.
pub(super) async fn begin(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    silence: Duration,
    watched: impl FnOnce(TcpStream) -> Watched<TcpStream>,
) -> io::Result<TlsStream<Watched<TcpStream>>> {
    let mut first = [0];
    let count = timeout(silence, stream.peek(&mut first)).await??;
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
    let mut stream = acceptor.accept(watched(stream)).await?;
    stream.get_mut().0.wait_again(silence);
    Ok(stream)
}
