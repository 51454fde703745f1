//! TLS of connections to PostgreSQL and of HTTP clients, and what every TLS shares.

/// Connections to a database.
pub mod database;
/// Common names.
mod names;
/// PEM files.
pub mod pem;
/// Who may read a key.
mod permissions;
/// The primary of several hosts.
mod primary;
/// The time of certificates.
pub mod validity;
/// Who a database server must be.
mod verifier;

use std::sync::{Arc, LazyLock, OnceLock};

use anyhow::Context;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::BuilderVerifierExt;

/// The configuration of HTTP clients in this program. They check certificates against the system's roots, or those in the
/// file that `SSL_CERT_FILE` names, which are read once.
pub fn client() -> anyhow::Result<ClientConfig> {
    static CONFIGURATION: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(configuration) = CONFIGURATION.get() {
        return Ok(configuration.clone());
    }
    let configuration = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .context("cannot load the system's root certificates")?
        .with_no_client_auth();
    Ok(CONFIGURATION.get_or_init(|| configuration).clone())
}

/// The cryptography of all TLS in this program. Each configuration names it: a default of the process would have to be set up
/// in each program, tests included.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));
    Arc::clone(&PROVIDER)
}
