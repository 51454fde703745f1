//! TLS of outgoing connections: to PostgreSQL, if the database URL requires it, to an embedding provider, and for
//! commands to a proxy. Certificates are always verified.

use std::sync::{Arc, OnceLock};

use anyhow::Context;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres::{CancelToken, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The TLS mode of database connections.
#[derive(Clone)]
pub(crate) enum Tls {
    Off,
    On(MakeRustlsConnect),
}

impl Tls {
    /// As the database URL says.
    pub(crate) fn wanted_by(config: &Config) -> anyhow::Result<Tls> {
        Ok(if wants_tls(config) { Tls::On(MakeRustlsConnect::new(client()?)) } else { Tls::Off })
    }

    /// Asks the server to stop what a connection is doing.
    pub(crate) async fn cancel(self, token: CancelToken) -> Result<(), tokio_postgres::Error> {
        match self {
            Tls::Off => token.cancel_query(NoTls).await,
            Tls::On(tls) => token.cancel_query(tls).await,
        }
    }
}

/// Whether a connection is to be encrypted: only when the URL says so.
pub(crate) fn wants_tls(config: &Config) -> bool {
    config.get_ssl_mode() == SslMode::Require
}

/// The configuration of every client in this program. It checks certificates against the system's roots, or those in the
/// file that `SSL_CERT_FILE` names, which are read once.
pub(crate) fn client() -> anyhow::Result<ClientConfig> {
    static CONFIGURATION: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(configuration) = CONFIGURATION.get() {
        return Ok(configuration.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .context("cannot load the system's root certificates")?
        .with_no_client_auth();
    Ok(CONFIGURATION.get_or_init(|| configuration).clone())
}
