//! A socket before the one of a cluster, on which new connections can be made to wait, and the answers of all.

use crate::cluster::Cluster;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// The name of a server's socket, here and there.
const SOCKET: &str = ".s.PGSQL.5432";

/// Ends with its owner: new connections are refused then.
pub struct Relay {
    folder: TempDir,
    passes: watch::Sender<bool>,
    answers: watch::Sender<bool>,
    waiting: Arc<AtomicUsize>,
}

impl Relay {
    /// Passes everything on to this cluster.
    pub fn before(cluster: &Cluster) -> Self {
        Self::between(&[cluster])
    }

    /// Passes each new connection on to another of these clusters, in their order.
    pub fn between(clusters: &[&Cluster]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("our folder");
        let (passes, may_pass) = watch::channel(true);
        let (answers, may_answer) = watch::channel(true);
        let relay = Self { folder, passes, answers, waiting: Arc::default() };
        tokio::spawn(relay_all(
            listener,
            clusters.iter().map(|cluster| cluster.folder().join(SOCKET)).collect(),
            may_pass,
            may_answer,
            Arc::clone(&relay.waiting),
        ));
        relay
    }

    /// A URL by which a role reaches a database through it.
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgresql://{role}@{folder}/{database}")
    }

    /// Makes new connections wait, until they are released.
    pub fn hold(&self) {
        self.passes.send_replace(false);
    }

    /// Keeps back what the server answers, on all connections, until it speaks again.
    pub fn silence(&self) {
        self.answers.send_replace(false);
    }

    /// Passes answers on again.
    pub fn speak(&self) {
        self.answers.send_replace(true);
    }

    /// Lets those that wait go on, and later ones pass.
    pub fn release(&self) {
        self.passes.send_replace(true);
    }

    /// How many connections wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

async fn relay_all(
    listener: UnixListener,
    servers: Vec<PathBuf>,
    may_pass: watch::Receiver<bool>,
    may_answer: watch::Receiver<bool>,
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
        let may_answer = may_answer.clone();
        tokio::spawn(async move {
            waiting.fetch_add(1, Ordering::Relaxed);
            let passes = may_pass.wait_for(|passes| *passes).await.is_ok();
            waiting.fetch_sub(1, Ordering::Relaxed);
            if let (true, Ok(mut server)) = (passes, UnixStream::connect(server).await) {
                let (mut asked, mut answers) = client.split();
                let (mut says, mut hears) = server.split();
                // It ends as its client or its server does.
                tokio::select! {
                    _ = tokio::io::copy(&mut asked, &mut hears) => {}
                    () = pass_answers(&mut says, &mut answers, may_answer) => {}
                }
            }
        });
    }
}

/// Passes on what a server says, while it may.
async fn pass_answers(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    mut may_answer: watch::Receiver<bool>,
) {
    let mut piece = [0; 16 << 10];
    while let Ok(count @ 1..) = server.read(&mut piece).await {
        if may_answer.wait_for(|may| *may).await.is_err() || client.write_all(&piece[..count]).await.is_err()
        {
            return;
        }
    }
}

/// Comes back when the relay was dropped.
async fn gone(owner: &mut watch::Receiver<bool>) {
    while owner.changed().await.is_ok() {}
}
