//! Raw HTTP requests, for callers that send a part of a request and wait.

use crate::{Database, Proxy, read_mode};
use rustls::ClientConfig;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;

/// A connection to the proxy.
pub struct Wire {
    stream: Box<dyn Stream>,
    certificate: Vec<u8>,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Wire {
    /// Opens a connection.
    pub async fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.expect("the proxy listens"))
    }

    /// Opens a connection with a small receive buffer.
    pub async fn open_with_small_buffer(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(16 << 10).expect("any size is allowed");
        Self::over(socket.connect(address).await.expect("the proxy listens"))
    }

    fn over(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), certificate: Vec::new() }
    }

    /// Opens a connection with TLS, if the certificate is valid for `localhost`.
    pub async fn open_tls(address: SocketAddr, client: Arc<ClientConfig>) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        let name = "localhost".try_into().expect("a name");
        let stream = TlsConnector::from(client).connect(name, stream).await?;
        let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let certificate = certificates.first().map(|it| it.to_vec()).unwrap_or_default();
        Ok(Self { stream: Box::new(stream), certificate })
    }

    /// The server's TLS certificate.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Opens a connection from another address of this machine.
    pub async fn open_from(from: Ipv4Addr, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((from, 0))).expect("all of 127.0.0.0/8 is this machine");
        Self::over(socket.connect(address).await.expect("the proxy listens"))
    }

    /// Opens a connection and sends the head of a request: method and path, then header lines.
    pub async fn begin(proxy: &Proxy, request: &str, key: &str, headers: &str) -> Self {
        let mut wire = Self::open(proxy.address()).await;
        wire.ask(request, key, headers).await.expect("the head fits into the buffers");
        wire
    }

    /// Sends the head of a request on this connection.
    pub async fn ask(&mut self, request: &str, key: &str, headers: &str) -> std::io::Result<()> {
        let authorization =
            if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\n") };
        let position = match read_mode::position().await {
            Some(position) => format!("X-Keyed-Position: {position}\n"),
            None => String::new(),
        };
        let head = format!(
            "{request} HTTP/1.1\nHost: keyed\nX-Service-Project-Id: crm\n{position}{authorization}{headers}\n\n"
        );
        self.send(head.replace('\n', "\r\n").as_bytes()).await
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Closes the sending side of the connection and keeps the receiving side open.
    pub async fn finish_sending(&mut self) {
        self.stream.shutdown().await.expect("the connection is open");
    }

    /// Reads some bytes and returns their number; 0 at the end.
    pub async fn read(&mut self) -> std::io::Result<usize> {
        self.read_up_to(16 << 10).await
    }

    /// Reads at most this many bytes.
    pub async fn read_up_to(&mut self, max: usize) -> std::io::Result<usize> {
        let mut bytes = [0; 16 << 10];
        let max = max.min(bytes.len());
        self.stream.read(&mut bytes[..max]).await
    }

    /// The head of the next response, in lowercase, and the part of its body that arrived with it; empty if the
    /// connection ends first.
    pub async fn response(&mut self) -> String {
        let mut response = Vec::new();
        let mut chunk = [0; 4096];
        while !response.windows(4).any(|end| end == b"\r\n\r\n") {
            match self.stream.read(&mut chunk).await {
                Ok(0) | Err(_) => break,
                Ok(count) => response.extend_from_slice(&chunk[..count]),
            }
        }
        String::from_utf8_lossy(&response).to_ascii_lowercase()
    }
}

/// The status of a response; 0 if there is none.
pub fn status_of(response: &str) -> u16 {
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

impl Database {
    /// A well-formed API key that does not exist.
    pub async fn nonexistent_key(&self) -> String {
        let session = self.session().await;
        session.run("begin").await;
        let key = session.text("select keyed.issue_api_key('keyed_admin')", &[]).await;
        session.run("rollback").await;
        key
    }
}
