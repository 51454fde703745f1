//! TLS towards whatever the program calls: PostgreSQL, where the database URL asks for it, a provider of embeddings, and
//! for the command line a proxy. The certificate is always checked.

use std::sync::Arc;

use anyhow::Context;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::{CancelToken, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How connections are secured.
#[derive(Clone)]
pub(crate) enum Tls {
    Off,
    On(MakeRustlsConnect),
}

impl Tls {
    /// With certificates checked as [`client`] does.
    pub(crate) fn verified() -> anyhow::Result<Tls> {
        Ok(Tls::On(MakeRustlsConnect::new(client()?)))
    }

    /// Asks the server to stop what a connection is doing.
    pub(crate) async fn cancel(self, token: CancelToken) -> Result<(), tokio_postgres::Error> {
        match self {
            Tls::Off => token.cancel_query(NoTls).await,
            Tls::On(tls) => token.cancel_query(tls).await,
        }
    }
}

/// Checks certificates against the system's roots, or those in the file that `SSL_CERT_FILE` names.
pub(crate) fn client() -> anyhow::Result<ClientConfig> {
    Ok(ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .context("cannot load the system's root certificates")?
        .with_no_client_auth())
}
