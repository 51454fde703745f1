//! Requests written by hand, for callers that send half of one and wait.

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

    /// Opens one whose system takes little of what is not read.
    pub async fn open_narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(16 << 10).expect("any size is allowed");
        Self::over(socket.connect(address).await.expect("the proxy listens"))
    }

    fn over(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), certificate: Vec::new() }
    }

    /// Opens one with TLS, if the certificate is good for the name `localhost`.
    pub async fn open_tls(address: SocketAddr, client: Arc<ClientConfig>) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        let name = "localhost".try_into().expect("a name");
        let stream = TlsConnector::from(client).connect(name, stream).await?;
        let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let certificate = certificates.first().map(|it| it.to_vec()).unwrap_or_default();
        Ok(Self { stream: Box::new(stream), certificate })
    }

    /// The certificate that the other side showed, with TLS.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Opens one from another address of this machine.
    pub async fn open_from(from: Ipv4Addr, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((from, 0))).expect("all of 127.0.0.0/8 is this machine");
        Self::over(socket.connect(address).await.expect("the proxy listens"))
    }

    /// Opens one and sends the head of a request: method and path, then further headers, one a line.
    pub async fn begin(proxy: &Proxy, request: &str, key: &str, headers: &str) -> Self {
        let mut wire = Self::open(proxy.address()).await;
        wire.ask(request, key, headers).await.expect("a head has room");
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

    /// Says that nothing more is sent, and stays to read.
    pub async fn finish_sending(&mut self) {
        self.stream.shutdown().await.expect("the connection is open");
    }

    /// Reads some bytes: how many; none at the end.
    pub async fn read(&mut self) -> std::io::Result<usize> {
        self.read_up_to(16 << 10).await
    }

    /// The same, of at most this many.
    pub async fn read_up_to(&mut self, most: usize) -> std::io::Result<usize> {
        let mut bytes = [0; 16 << 10];
        let most = most.min(bytes.len());
        self.stream.read(&mut bytes[..most]).await
    }

    /// The head of the next answer, its lines in small letters, and what came of its body along with it; empty when
    /// the connection ends before.
    pub async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            match self.stream.read(&mut chunk).await {
                Ok(0) | Err(_) => break,
                Ok(count) => answer.extend_from_slice(&chunk[..count]),
            }
        }
        String::from_utf8_lossy(&answer).to_ascii_lowercase()
    }
}

/// The status of an answer, 0 when there was none.
pub fn status_of(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

impl Database {
    /// An API key that looks like one and never was.
    pub async fn wrong_key(&self) -> String {
        let session = self.session().await;
        session.run("begin").await;
        let key = session.text("select keyed.issue_api_key('keyed_admin')", &[]).await;
        session.run("rollback").await;
        key
    }
}
