//! The cryptography of all TLS in this program.

use std::sync::{Arc, LazyLock};

use rustls::crypto::CryptoProvider;

/// Named everywhere: a default of the whole process would be another thing to set up, in tests too.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::ring::default_provider()));
    Arc::clone(&PROVIDER)
}
