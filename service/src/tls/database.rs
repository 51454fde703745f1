//! Connections to a database, with the TLS settings of its URL. Certificates are read once and shared by all connections.

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

use super::primary::{self, Candidate, Primary};
use super::provider;
use super::verifier::ServerVerifier;
use super::{pem, permissions};
use crate::database_url::tls::{DatabaseTls, Mode, Roots};
use crate::database_url::{DatabaseUrl, hosts};

/// The timeout of the first connection with a new URL.
const PATIENCE: Duration = Duration::from_secs(5);

/// The delay before hosts other than the last primary are tried, and the pause between two attempts with a host.
const HEAD_START: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(250);

/// A connection, and the task that drives it.
type Connected = (Client, JoinHandle<()>);

/// Opens connections to a database. Clones share the target, even after [`Connector::replace`].
#[derive(Clone)]
pub struct Connector {
    current: Arc<RwLock<Arc<Target>>>,
}

/// The target of connections.
struct Target {
    url: DatabaseUrl,
    tls: Option<MakeRustlsConnect>,
    /// A hash of the contents of the files.
    files: [u8; 32],
    /// The settings of each host, if the URL has several hosts and requires the primary.
    hosts: Vec<Config>,
    primary: Primary,
}

impl Connector {
    /// Creates a connector. Reads the files that the URL names.
    pub fn new(url: DatabaseUrl) -> Result<Connector, String> {
        Ok(Connector { current: Arc::new(RwLock::new(Arc::new(Target::new(url)?))) })
    }

    /// Uses another URL or changed files for later connections. Returns whether anything has changed. A test connection
    /// is opened first, so that an unusable URL has no effect.
    pub async fn replace(&self, url: DatabaseUrl) -> Result<bool, String> {
        let target = Target::new(url)?;
        if target.is_same_as(&self.target()) {
            return Ok(false);
        }
        let nowhere = |error: String| format!("cannot connect with the new URL: {error}");
        match timeout(PATIENCE, target.connect()).await {
            Ok(Ok((client, connection))) => {
                drop(client);
                connection.abort();
            }
            Ok(Err(error)) => return Err(nowhere(format!("{:#}", anyhow::Error::from(error)))),
            Err(_) => return Err(nowhere("no response in time".to_owned())),
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(target);
        Ok(true)
    }

    /// Whether the URL has several hosts and requires the primary.
    pub fn has_candidates(&self) -> bool {
        !self.target().hosts.is_empty()
    }

    /// Opens a connection, which is closed when its client is dropped. If the URL has several hosts and requires the
    /// primary, it connects to the primary, and the connection is closed when another server becomes the primary.
    pub async fn connect(&self) -> Result<Connected, Error> {
        loop {
            let target = self.target();
            let (client, connection) = target.connect().await?;
            // The target was replaced while this connection was being opened, so it is opened again.
            if Arc::ptr_eq(&target, &self.target()) {
                return Ok((client, connection));
            }
            drop(client);
            connection.abort();
        }
    }

    /// Cancels the running statement of a connection, with the same TLS settings.
    pub async fn cancel(&self, token: CancelToken) -> Result<(), Error> {
        match self.target().tls.clone() {
            None => token.cancel_query(NoTls).await,
            Some(tls) => token.cancel_query(tls).await,
        }
    }

    /// The settings of connections.
    pub fn config(&self) -> Config {
        self.target().url.config.clone()
    }

    fn target(&self) -> Arc<Target> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Target {
    fn new(url: DatabaseUrl) -> Result<Target, String> {
        let tls = match url.tls.mode {
            Mode::Disable => None,
            _ => Some(MakeRustlsConnect::new(client(&url.tls)?)),
        };
        let mut files = Sha256::new();
        for path in url.tls.files() {
            // Unreadable files were rejected above.
            files.update(std::fs::read(path).unwrap_or_default());
        }
        let hosts = hosts::of_primary(&url.config);
        Ok(Target { url, tls, files: files.finalize().into(), hosts, primary: Primary::default() })
    }

    fn is_same_as(&self, other: &Target) -> bool {
        self.url == other.url && self.files == other.files
    }

    async fn connect(&self) -> Result<Connected, Error> {
        if self.hosts.is_empty() {
            self.open(&self.url.config).await
        } else {
            self.connect_to_primary().await
        }
    }

    /// Connects to the primary. All hosts are tried concurrently, so that a host that does not respond delays no other.
    /// While an attempt is pending, hosts that were not the primary are tried again.
    async fn connect_to_primary(&self) -> Result<Connected, Error> {
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
        // An error from a server is the most specific.
        let errors = errors.into_iter().flatten();
        Err(errors.max_by_key(|error| error.as_db_error().is_some()).expect("every host has failed"))
    }

    /// Connects to a host after a delay. Returns `None` if it is no longer the primary.
    async fn attempt(&self, host: usize, delay: Duration) -> (usize, Result<Option<Connected>, Error>) {
        sleep(delay).await;
        let (client, task) = match self.open(&self.hosts[host]).await {
            Ok((client, task)) => (client, AbortOnDrop(task)),
            Err(error) => return (host, Err(error)),
        };
        let found = match client.simple_query(primary::ASK).await {
            Ok(result) => Candidate::read(host, &result),
            Err(error) if error.as_db_error().is_some() => None,
            Err(error) => return (host, Err(error)),
        };
        // A PostgreSQL-compatible server may have no timelines.
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
                Err(error) if is_rejected_by_hba(&error) => {
                    encrypted(SslMode::Require).await.map_err(|second| more_useful_error(error, second))
                }
                done => done,
            },
            Mode::Prefer => match encrypted(SslMode::Prefer).await {
                Err(error) if is_rejected_by_hba(&error) || is_handshake(&error) => {
                    plain().await.map_err(|second| more_useful_error(error, second))
                }
                done => done,
            },
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => encrypted(SslMode::Require).await,
        }
    }
}

/// Aborts a task when its owner is dropped.
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

/// Whether pg_hba.conf rejects this kind of connection.
fn is_rejected_by_hba(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// Chooses the more useful error of two attempts: a missing TLS support is not the reason why the server rejects a role.
fn more_useful_error(first: Error, second: Error) -> Error {
    if second.as_db_error().is_some() { second } else { first }
}

/// Whether the TLS handshake failed.
fn is_handshake(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}

/// The TLS configuration of a client of this database.
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
        // Without a file, both modes verify against the system's roots. Public authorities issue certificates to
        // anyone, so the host name is verified as well.
        (_, Mode::VerifyCa | Mode::VerifyFull) => versions
            .with_platform_verifier()
            .map_err(|error| format!("the system's root certificates cannot be loaded: {error}."))?,
        _ => versions.dangerous().with_custom_certificate_verifier(Arc::new(ServerVerifier::accept_any())),
    };
    let mut client = match &tls.identity {
        Some((certificate, key)) => with_identity(certificate, key, |certificates, key| {
            builder.with_client_auth_cert(certificates, key)
        })?,
        None => builder.with_no_client_auth(),
    };
    if tls.is_direct {
        // PostgreSQL requires ALPN for direct TLS.
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
