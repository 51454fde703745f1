//! Connections to a database, with as much TLS as its URL wants. What they need is read once, and each connection takes it
//! from there.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Config, Error, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::primary::{self, Found, Primary};
use super::provider;
use super::verifier::ServerVerifier;
use super::{pem, permissions};
use crate::database_url::tls::{DatabaseTls, Mode, Roots};
use crate::database_url::{DatabaseUrl, hosts};

/// How long the first connection by another URL may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time before other hosts are tried than the last primary, and between two attempts with a host.
const HEAD_START: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(250);

/// A connection, and the task that drives it.
type Connected = (Client, JoinHandle<()>);

/// Opens connections to a database. A clone opens them to the same, also after [`Connector::replace`].
#[derive(Clone)]
pub struct Connector {
    current: Arc<RwLock<Arc<Way>>>,
}

/// How to reach a database.
struct Way {
    url: DatabaseUrl,
    tls: Option<MakeRustlsConnect>,
    /// A hash of what the files say.
    files: [u8; 32],
    /// The settings of each host, if only the primary of several is wanted.
    hosts: Vec<Config>,
    primary: Primary,
}

impl Connector {
    /// Reads the files that the URL names.
    pub fn new(url: DatabaseUrl) -> Result<Connector, String> {
        Ok(Connector { current: Arc::new(RwLock::new(Arc::new(Way::new(url)?))) })
    }

    /// Opens later connections by another URL, or by files that have changed: whether anything has. One connection is opened
    /// first, so that a URL which leads nowhere changes nothing.
    pub async fn replace(&self, url: DatabaseUrl) -> Result<bool, String> {
        let way = Way::new(url)?;
        if way.is_same_as(&self.way()) {
            return Ok(false);
        }
        let nowhere = |error: String| format!("no connection can be opened by the new one: {error}");
        match timeout(PATIENCE, way.connect()).await {
            Ok(Ok((client, connection))) => {
                drop(client);
                connection.abort();
            }
            Ok(Err(error)) => return Err(nowhere(format!("{:#}", anyhow::Error::from(error)))),
            Err(_) => return Err(nowhere("no response in time".to_owned())),
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(way);
        Ok(true)
    }

    /// Whether the primary of several hosts is wanted.
    pub fn has_candidates(&self) -> bool {
        !self.way().hosts.is_empty()
    }

    /// Opens a connection. It works until its client is dropped. Of several hosts, one to the primary; it ends when another
    /// server becomes that.
    pub async fn connect(&self) -> Result<Connected, Error> {
        loop {
            let way = self.way();
            let (client, connection) = way.connect().await?;
            // It was replaced while this one was opened, which would count as one of the new ones.
            if Arc::ptr_eq(&way, &self.way()) {
                return Ok((client, connection));
            }
            drop(client);
            connection.abort();
        }
    }

    /// Asks the server to stop what a connection is doing, over a connection of the same kind.
    pub async fn cancel(&self, token: CancelToken) -> Result<(), Error> {
        match self.way().tls.clone() {
            None => token.cancel_query(NoTls).await,
            Some(tls) => token.cancel_query(tls).await,
        }
    }

    /// The settings of connections.
    pub fn config(&self) -> Config {
        self.way().url.config.clone()
    }

    fn way(&self) -> Arc<Way> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Way {
    fn new(url: DatabaseUrl) -> Result<Way, String> {
        let tls = match url.tls.mode {
            Mode::Disable => None,
            _ => Some(MakeRustlsConnect::new(client(&url.tls)?)),
        };
        let mut files = Sha256::new();
        for path in url.tls.files() {
            // What cannot be read now was rejected above.
            files.update(std::fs::read(path).unwrap_or_default());
        }
        let hosts = hosts::of_primary(&url.config);
        Ok(Way { url, tls, files: files.finalize().into(), hosts, primary: Primary::default() })
    }

    fn is_same_as(&self, other: &Way) -> bool {
        self.url == other.url && self.files == other.files
    }

    async fn connect(&self) -> Result<Connected, Error> {
        if self.hosts.is_empty() { self.open(&self.url.config).await } else { self.to_primary().await }
    }

    /// Connects to the primary. A host that does not respond delays none of the others. While one may still respond, those that
    /// were no primary are asked again.
    async fn to_primary(&self) -> Result<Connected, Error> {
        let last = self.primary.host();
        let delay = |host| if last.is_none_or(|last| last == host) { Duration::ZERO } else { HEAD_START };
        let hosts = 0..self.hosts.len();
        let mut attempts: FuturesUnordered<_> = hosts.map(|host| self.attempt(host, delay(host))).collect();
        let mut errors: Vec<Option<Error>> = self.hosts.iter().map(|_| None).collect();
        while let Some((host, outcome)) = attempts.next().await {
            match outcome {
                Ok(Some(connected)) => return Ok(connected),
                Ok(None) => {}
                Err(error) => errors[host] = Some(error),
            }
            if errors.iter().all(Option::is_some) {
                break;
            }
            attempts.push(self.attempt(host, PAUSE));
        }
        // An error that a server sent says most.
        let errors = errors.into_iter().flatten();
        Err(errors.max_by_key(|error| error.as_db_error().is_some()).expect("every host has failed"))
    }

    /// Connects to a host after a delay: nothing if it is not the primary any more.
    async fn attempt(&self, host: usize, delay: Duration) -> (usize, Result<Option<Connected>, Error>) {
        sleep(delay).await;
        let (client, task) = match self.open(&self.hosts[host]).await {
            Ok((client, task)) => (client, AbortOnDrop(task)),
            Err(error) => return (host, Err(error)),
        };
        let found = match client.simple_query(primary::ASK).await {
            Ok(answer) => Found::read(host, &answer),
            Err(error) if error.as_db_error().is_some() => None,
            Err(error) => return (host, Err(error)),
        };
        // A server that is like PostgreSQL may have no timelines.
        let end = match found {
            Some(found) if !self.primary.admits(&found) => return (host, Ok(None)),
            found => found.map(|found| self.primary.end_of(found)),
        };
        let task = tokio::spawn(async move {
            let mut task = task;
            match end {
                Some(end) => tokio::select! { _ = &mut task.0 => {}, () = end => {} },
                None => drop((&mut task.0).await),
            }
        });
        (host, Ok(Some((client, task))))
    }

    async fn open(&self, config: &Config) -> Result<Connected, Error> {
        let plain = || connect(config, SslMode::Disable, NoTls);
        let Some(tls) = &self.tls else { return plain().await };
        let encrypted = |mode| connect(config, mode, tls.clone());
        match self.url.tls.mode {
            Mode::Disable => plain().await,
            Mode::Allow => match plain().await {
                Err(error) if wants_another_way(&error) => {
                    encrypted(SslMode::Require).await.map_err(|second| the_servers_own(error, second))
                }
                done => done,
            },
            Mode::Prefer => match encrypted(SslMode::Prefer).await {
                Err(error) if wants_another_way(&error) || is_handshake(&error) => {
                    plain().await.map_err(|second| the_servers_own(error, second))
                }
                done => done,
            },
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => encrypted(SslMode::Require).await,
        }
    }
}

/// Ends a task with its owner.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn connect<T>(config: &Config, mode: SslMode, tls: T) -> Result<Connected, Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let mut config = config.clone();
    let (client, connection) = config.ssl_mode(mode).connect(tls).await?;
    Ok((client, tokio::spawn(async move { drop(connection.await) })))
}

/// Whether the server refuses this kind of connection, by a line of pg_hba.conf.
fn wants_another_way(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// Of the errors of two attempts, the one that says what to do: that the server has no TLS is not the reason why it refuses a
/// role.
fn the_servers_own(first: Error, second: Error) -> Error {
    if second.as_db_error().is_some() { second } else { first }
}

/// Whether the two could not agree on TLS.
fn is_handshake(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}

/// The TLS of a client of this database.
fn client(tls: &DatabaseTls) -> Result<ClientConfig, String> {
    let versions = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match (&tls.roots, tls.mode) {
        (Roots::File(path), mode) => {
            let certificates = pem::certificates("sslrootcert", path)?;
            let revoked = match &tls.revoked {
                Some(path) => pem::revocation_lists("sslcrl", path)?,
                None => Vec::new(),
            };
            let verifier = ServerVerifier::with_roots(certificates, revoked, mode == Mode::VerifyFull)
                .map_err(|error| format!("sslrootcert {}: {error}.", path.display()))?;
            versions.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        // Without a file, both check against the system's roots. Anybody can have a certificate of one of those, so that
        // only the name says who it is.
        (_, Mode::VerifyCa | Mode::VerifyFull) => versions
            .with_platform_verifier()
            .map_err(|error| format!("the system's root certificates cannot be loaded: {error}."))?,
        _ => versions.dangerous().with_custom_certificate_verifier(Arc::new(ServerVerifier::anybody())),
    };
    let mut client = match &tls.identity {
        Some((certificate, key)) => with_identity(certificate, key, |certificates, key| {
            builder.with_client_auth_cert(certificates, key)
        })?,
        None => builder.with_no_client_auth(),
    };
    if tls.is_direct {
        // The server requires it where it is not asked for TLS first.
        client.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(client)
}

fn with_identity(
    certificate: &Path,
    key: &Path,
    build: impl FnOnce(
        Vec<rustls::pki_types::CertificateDer<'static>>,
        rustls::pki_types::PrivateKeyDer<'static>,
    ) -> Result<ClientConfig, rustls::Error>,
) -> Result<ClientConfig, String> {
    let certificates = pem::certificates("sslcert", certificate)?;
    let private = pem::private_key("sslkey", key)?;
    permissions::check("sslkey", key)?;
    build(certificates, private).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => format!(
            "the key in sslkey {} does not belong to the first certificate in sslcert {}.",
            key.display(),
            certificate.display()
        ),
        error => format!("sslcert {} cannot be used: {error}.", certificate.display()),
    })
}
