//! Stored hashes of credentials: the stored value cannot be used to authenticate. Pure.
//!
//! The proxy presents the SHA-256 of a key or token. The database stores a hash of that, with a different domain for
//! each kind. A log of parameters shows what is presented. Only the login `keyed_proxy` can use that, and not over
//! HTTP.

use sha2::{Digest, Sha256};

/// Kinds of credentials. The proxy sends the SHA-256 of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// An API key.
    ApiKey,
    /// The token in the address of an inbound endpoint.
    InboundToken,
}

impl Credential {
    /// Keeps the hashes of one kind apart from those of another, and from any other SHA-256. State step 14 writes the
    /// same texts.
    fn domain(self) -> &'static [u8] {
        match self {
            Credential::ApiKey => b"keyed.api_key:",
            Credential::InboundToken => b"keyed.inbound_token:",
        }
    }

    /// What is stored of it, made of what is presented.
    pub fn stored(self, presented: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(self.domain()).chain_update(presented).finalize().into()
    }

    /// What is stored of it when it is issued.
    pub fn of_secret(self, secret: &str) -> [u8; 32] {
        self.stored(&Sha256::digest(secret.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_hash_differs_from_the_credential_and_between_kinds() {
        let presented: [u8; 32] = Sha256::digest(b"secret").into();
        let stored = Credential::ApiKey.stored(&presented);
        assert_ne!(stored, presented);
        assert_ne!(stored, Credential::InboundToken.stored(&presented));
        assert_ne!(stored, Credential::ApiKey.stored(&stored));
        assert_eq!(stored, Credential::ApiKey.of_secret("secret"));
    }
}
