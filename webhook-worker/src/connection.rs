//! Connections to receivers. The name is resolved once, every address is checked, and the connection is opened to a
//! checked address. A later change of the name's addresses has no effect.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::Allowed;
use crate::target::{Host, Target};

/// The maximum number of addresses that are tried for a name.
const MAX_ADDRESSES: usize = 4;

/// The connect timeout of each address, if there are several.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);

/// A connection, with or without TLS.
pub(crate) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Connects to a receiver.
pub(crate) async fn connect(
    target: &Target,
    allowed: &Allowed,
    tls: &Arc<ClientConfig>,
) -> Result<Stream, String> {
    let addresses = resolve(target).await?;
    check(&addresses, target, allowed)?;
    let stream = open(&addresses).await?;
    if !target.is_encrypted {
        return Ok(Stream::Plain(stream));
    }
    let name = match &target.host {
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| error.to_string())?,
        Host::Address(address) => ServerName::IpAddress((*address).into()),
    };
    let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await;
    stream.map(|stream| Stream::Encrypted(Box::new(stream))).map_err(|error| format!("TLS: {error}"))
}

async fn resolve(target: &Target) -> Result<Vec<SocketAddr>, String> {
    match &target.host {
        Host::Address(address) => Ok(vec![SocketAddr::new(*address, target.port)]),
        Host::Name(name) => match lookup_host((name.as_str(), target.port)).await {
            Ok(addresses) => Ok(addresses.take(MAX_ADDRESSES).collect()),
            Err(error) => Err(format!("the name {name} cannot be resolved: {error}")),
        },
    }
}

/// Rejects all addresses of a name if one is not permitted.
fn check(addresses: &[SocketAddr], target: &Target, allowed: &Allowed) -> Result<(), String> {
    let is_permitted = |address: &&SocketAddr| allowed.permits(address.ip(), target.is_encrypted);
    match addresses.iter().find(|address| !is_permitted(address)) {
        None => Ok(()),
        Some(address) => Err(rejection(address.ip(), target.is_encrypted)),
    }
}

fn rejection(address: IpAddr, is_encrypted: bool) -> String {
    let reason = if is_encrypted || !crate::address::is_public(address) {
        "it is not a public address"
    } else {
        "the URL does not begin with https://"
    };
    format!("webhooks are not delivered to {address}: {reason}, and KEYED_WEBHOOK_ALLOW does not list it")
}

async fn open(addresses: &[SocketAddr]) -> Result<TcpStream, String> {
    let mut failure = "the name has no address".to_owned();
    for address in addresses {
        let stream = match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                failure = format!("cannot connect to {address}: {error}");
                continue;
            }
            Err(_) => {
                failure = format!("cannot connect to {address} within {} seconds", CONNECT_TIMEOUT.as_secs());
                continue;
            }
        };
        match stream.peer_addr() {
            Ok(peer) if peer.ip() == address.ip() && peer.port() == address.port() => {}
            _ => return Err(format!("the connection has another peer than {address}")),
        }
        let _ = stream.set_nodelay(true);
        return Ok(stream);
    }
    Err(failure)
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Encrypted(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_forbidden_address_rejects_all() {
        let target = |url: &str| Target::parse(url).expect(url);
        let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| SocketAddr::new(text.parse().expect(text), 443)).collect()
        };
        let allowed = Allowed::parse("10.0.0.0/8").expect("a network");
        let https = target("https://example.com");
        assert_eq!(check(&addresses(&["1.1.1.1", "2600::1", "10.0.0.1"]), &https, &allowed), Ok(()));
        let mixed = check(&addresses(&["1.1.1.1", "127.0.0.1"]), &https, &allowed);
        assert!(
            mixed.is_err_and(|message| message.contains("127.0.0.1") && message.contains("not a public"))
        );
        let plain = check(&addresses(&["1.1.1.1"]), &target("http://example.com"), &allowed);
        assert!(plain.is_err_and(|message| message.contains("https://")));
    }

    #[tokio::test]
    async fn name_without_address_is_a_failure() {
        assert!(open(&[]).await.is_err_and(|message| message.contains("no address")));
    }
}
