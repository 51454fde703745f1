//! A receiver of webhooks, with configurable failures.

use serde_json::Value;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A received delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The number of earlier deliveries.
    pub number: usize,
    /// The path with its query.
    pub path: String,
    /// The headers, with lowercase names.
    pub headers: HashMap<String, String>,
    /// The body, byte for byte.
    pub body: String,
}

impl Delivery {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body of a delivery is JSON")
    }

    /// The `webhook-id`.
    pub fn id(&self) -> &str {
        self.headers.get("webhook-id").map_or("", String::as_str)
    }

    /// The type of the event and the external key of its record.
    pub fn in_short(&self) -> String {
        let body = self.json();
        let key = body["data"]["external_key"].as_str().unwrap_or("-");
        format!("{} {key}", body["type"].as_str().unwrap_or_default())
    }
}

/// The receiver's reaction to a delivery.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// A status, with header lines and a body.
    Status(u16, String, String),
    /// The head of a successful response that never ends.
    Unfinished,
    /// No response, on a connection that stays open.
    Silence,
    /// A connection reset.
    Reset,
    /// Another reaction, after a delay.
    After(Duration, Box<Reaction>),
}

impl Reaction {
    /// Success.
    pub fn success() -> Self {
        Self::status(204)
    }

    /// A response with this status.
    pub fn status(status: u16) -> Self {
        Self::Status(status, String::new(), String::new())
    }

    /// A redirect to this URL.
    pub fn redirect(url: &str) -> Self {
        Self::Status(307, format!("location: {url}\r\n"), String::new())
    }

    /// The same reaction after a delay.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self::After(delay, Box::new(self))
    }
}

/// The receiver. It ends when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    deliveries: Arc<Mutex<Vec<Delivery>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Receiver {
    /// Starts a receiver that accepts every delivery.
    pub async fn start() -> Self {
        Self::start_with(|_| Reaction::success()).await
    }

    /// Starts a receiver with these reactions.
    pub async fn start_with(react: impl Fn(&Delivery) -> Reaction + Clone + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let deliveries = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&deliveries);
        let task = tokio::spawn(async move {
            // Dropping the set closes the connections.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (react, log) = (react.clone(), Arc::clone(&log));
                connections.spawn(async move { serve(stream, &log, react).await });
            }
        });
        Self { address, deliveries, task }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The deliveries received so far.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many deliveries have arrived.
    pub async fn until_delivered(&self, count: usize) -> Vec<Delivery> {
        crate::until("the deliveries arrive", async || self.deliveries().len() >= count).await;
        self.deliveries()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: &Mutex<Vec<Delivery>>, react: impl Fn(&Delivery) -> Reaction) {
    let Some((path, headers, body)) = read(&mut stream).await else { return };
    let deliveries = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let deliveries = Delivery { number: log.len(), path, headers, body };
        log.push(deliveries.clone());
        deliveries
    };
    let mut reaction = react(&deliveries);
    while let Reaction::After(delay, next) = reaction {
        tokio::time::sleep(delay).await;
        reaction = *next;
    }
    match reaction {
        Reaction::Status(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} Answer\r\n{headers}content-length: {length}\r\n\r\n");
            let _ = stream.write_all((head + &body).as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Reaction::Unfinished => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
            wait_for_end(stream).await;
        }
        Reaction::Silence => wait_for_end(stream).await,
        Reaction::Reset => {
            stream.set_zero_linger().expect("an open connection");
        }
        Reaction::After(..) => unreachable!("taken apart above"),
    }
}

/// Waits until the sender closes the connection.
async fn wait_for_end(mut stream: TcpStream) {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

/// Path, headers and body of a request.
async fn read(stream: &mut TcpStream) -> Option<(String, HashMap<String, String>, String)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
        let mut lines = head.split("\r\n");
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers: HashMap<String, String> = lines.filter_map(header).collect();
        let length: usize = headers.get("content-length")?.parse().ok()?;
        while bytes.len() < end + 4 + length {
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        let body = String::from_utf8(bytes[end + 4..].to_vec()).ok()?;
        return Some((path, headers, body));
    }
}
