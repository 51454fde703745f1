//! A socket in front of a cluster's socket, which can hold new connections and all responses.

use crate::cluster::Cluster;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// The file name of a server's socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// A relay. When it is dropped, new connections are refused.
pub struct Relay {
    folder: TempDir,
    passes: watch::Sender<bool>,
    responses: watch::Sender<bool>,
    waiting: Arc<AtomicUsize>,
}

impl Relay {
    /// Forwards everything to this cluster.
    pub fn before(cluster: &Cluster) -> Self {
        Self::between(&[cluster])
    }

    /// Passes each new connection on to another of these clusters, in their order.
    pub fn between(clusters: &[&Cluster]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("the folder is accessible");
        let (passes, may_pass) = watch::channel(true);
        let (responses, may_respond) = watch::channel(true);
        let relay = Self { folder, passes, responses, waiting: Arc::default() };
        tokio::spawn(relay_all(
            listener,
            clusters.iter().map(|cluster| cluster.folder().join(SOCKET)).collect(),
            may_pass,
            may_respond,
            Arc::clone(&relay.waiting),
        ));
        relay
    }

    /// A URL by which a role connects to a database through the relay.
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgresql://{role}@{folder}/{database}")
    }

    /// Holds new connections until they are released.
    pub fn hold_connections(&self) {
        self.passes.send_replace(false);
    }

    /// Holds the server's responses on all connections until [`Self::release_responses`].
    pub fn hold_responses(&self) {
        self.responses.send_replace(false);
    }

    /// Forwards responses again.
    pub fn release_responses(&self) {
        self.responses.send_replace(true);
    }

    /// Releases the held connections, and forwards later ones.
    pub fn release_connections(&self) {
        self.passes.send_replace(true);
    }

    /// The number of held connections.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

async fn relay_all(
    listener: UnixListener,
    servers: Vec<PathBuf>,
    may_pass: watch::Receiver<bool>,
    may_respond: watch::Receiver<bool>,
    waiting: Arc<AtomicUsize>,
) {
    let mut owner = may_pass.clone();
    for server in servers.iter().cycle() {
        let mut client = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => client,
                Err(_) => return,
            },
            () = gone(&mut owner) => return,
        };
        let (server, mut may_pass, waiting) = (server.clone(), may_pass.clone(), Arc::clone(&waiting));
        let may_respond = may_respond.clone();
        tokio::spawn(async move {
            waiting.fetch_add(1, Ordering::Relaxed);
            let passes = may_pass.wait_for(|passes| *passes).await.is_ok();
            waiting.fetch_sub(1, Ordering::Relaxed);
            if let (true, Ok(mut server)) = (passes, UnixStream::connect(server).await) {
                let (mut from_client, mut to_client) = client.split();
                let (mut from_server, mut to_server) = server.split();
                // The connection ends when its client or its server closes it.
                tokio::select! {
                    _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                    () = forward_responses(&mut from_server, &mut to_client, may_respond) => {}
                }
            }
        });
    }
}

/// Forwards the server's responses while that is allowed.
async fn forward_responses(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    mut may_respond: watch::Receiver<bool>,
) {
    let mut piece = [0; 16 << 10];
    while let Ok(count @ 1..) = server.read(&mut piece).await {
        if may_respond.wait_for(|may| *may).await.is_err() || client.write_all(&piece[..count]).await.is_err()
        {
            return;
        }
    }
}

/// Returns when the relay is dropped.
async fn gone(owner: &mut watch::Receiver<bool>) {
    while owner.changed().await.is_ok() {}
}
