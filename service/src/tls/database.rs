//! Connections to a database, with as much TLS as its URL wants. What they need is read once, and each connection takes it
//! from there.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::provider;
use super::verifier::ServerVerifier;
use super::{pem, permissions};
use crate::database_url::DatabaseUrl;
use crate::database_url::tls::{DatabaseTls, Mode, Roots};

/// How long the first connection by another URL may take.
const PATIENCE: Duration = Duration::from_secs(5);

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

    /// Opens a connection. It works until its client is dropped.
    pub async fn connect(&self) -> Result<(Client, JoinHandle<()>), Error> {
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
        Ok(Way { url, tls, files: files.finalize().into() })
    }

    fn is_same_as(&self, other: &Way) -> bool {
        self.url == other.url && self.files == other.files
    }

    async fn connect(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let Some(tls) = &self.tls else { return self.plain().await };
        match self.url.tls.mode {
            Mode::Disable => self.plain().await,
            Mode::Allow => match self.plain().await {
                Err(error) if wants_another_way(&error) => {
                    let done = self.encrypted(tls, SslMode::Require).await;
                    done.map_err(|second| the_servers_own(error, second))
                }
                done => done,
            },
            Mode::Prefer => match self.encrypted(tls, SslMode::Prefer).await {
                Err(error) if wants_another_way(&error) || is_handshake(&error) => {
                    self.plain().await.map_err(|second| the_servers_own(error, second))
                }
                done => done,
            },
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => self.encrypted(tls, SslMode::Require).await,
        }
    }

    async fn plain(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let mut config = self.url.config.clone();
        let (client, connection) = config.ssl_mode(SslMode::Disable).connect(NoTls).await?;
        Ok((client, tokio::spawn(async move { drop(connection.await) })))
    }

    async fn encrypted(
        &self,
        tls: &MakeRustlsConnect,
        mode: SslMode,
    ) -> Result<(Client, JoinHandle<()>), Error> {
        let mut config = self.url.config.clone();
        let (client, connection) = config.ssl_mode(mode).connect(tls.clone()).await?;
        Ok((client, tokio::spawn(async move { drop(connection.await) })))
    }
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
