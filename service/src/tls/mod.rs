//! TLS of connections to PostgreSQL and of HTTP clients, and the cryptography that all TLS shares.

/// Connections to a database.
pub mod database;
/// Common names.
mod names;
/// PEM files.
pub mod pem;
/// The permissions of key files.
mod permissions;
/// The primary of several hosts.
mod primary;
/// The validity period of certificates.
pub mod validity;
/// The verification of a database server.
mod verifier;

use std::sync::{Arc, LazyLock, OnceLock};

use anyhow::Context;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::BuilderVerifierExt;

/// The configuration of HTTP clients in this program. They verify certificates against the system's roots or those in
/// the file `SSL_CERT_FILE`, which are read once.
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

/// The cryptography of all TLS in this program. Each configuration specifies it, because a process-wide default would
/// have to be installed in each program, including tests.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));
    Arc::clone(&PROVIDER)
}
