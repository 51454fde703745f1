//! Stored hashes of credentials: the stored value cannot be used to authenticate. Pure.
//!
//! The proxy presents the SHA-256 of a key or token. The database stores a hash of that, with a different domain for
//! each kind. A log of statement parameters contains the presented hash, which only the login `keyed_proxy` can use,
//! and which is not valid over HTTP.

use sha2::{Digest, Sha256};

/// Kinds of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// An API key.
    ApiKey,
    /// The token in the URL of an inbound endpoint.
    InboundToken,
}

impl Credential {
    /// The domain separator: hashes of one kind differ from those of another, and from any other SHA-256. Migration 14
    /// uses the same strings.
    fn domain(self) -> &'static [u8] {
        match self {
            Credential::ApiKey => b"keyed.api_key:",
            Credential::InboundToken => b"keyed.inbound_token:",
        }
    }

    /// The stored hash of a presented hash.
    pub fn stored(self, presented: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(self.domain()).chain_update(presented).finalize().into()
    }

    /// The stored hash of a newly issued secret.
    pub fn of_secret(self, secret: &str) -> [u8; 32] {
        self.stored(&Sha256::digest(secret.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_hash_differs_from_the_presented_one_and_between_kinds() {
        let presented: [u8; 32] = Sha256::digest(b"secret").into();
        let stored = Credential::ApiKey.stored(&presented);
        assert_ne!(stored, presented);
        assert_ne!(stored, Credential::InboundToken.stored(&presented));
        assert_ne!(stored, Credential::ApiKey.stored(&stored));
        assert_eq!(stored, Credential::ApiKey.of_secret("secret"));
    }
}
