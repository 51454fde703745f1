//! TLS of connections to PostgreSQL and of HTTP clients, and what every TLS shares.

/// Connections to a database.
pub mod database;
/// Common names.
mod names;
/// PEM files.
pub mod pem;
/// Who may read a key.
mod permissions;
/// The cryptography.
pub mod provider;
/// The time of certificates.
pub mod validity;
/// Who a database server must be.
mod verifier;

use std::sync::OnceLock;

use anyhow::Context;
use provider::provider;
use rustls::ClientConfig;
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
