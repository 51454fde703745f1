//! API keys and delivery tokens: their kinds and their format. Pure.
//!
//! Keys have a checksum and tokens a fixed length, so most invalid ones are rejected without a lookup.

use crate::problem::Problem;

/// The number of secret bytes of a key or token.
const SECRET: usize = 32;

/// The kinds of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    /// An API key.
    ApiKey,
    /// The token in the URL of an inbound endpoint.
    DeliveryToken,
}

impl CredentialKind {
    /// The error for an invalid key or token.
    pub(super) fn rejection(self) -> Problem {
        match self {
            CredentialKind::ApiKey => Problem::invalid_key(),
            CredentialKind::DeliveryToken => Problem::not_found(),
        }
    }

    /// Whether a statement failed because the key or token is invalid.
    pub(crate) fn is_rejection(self, problem: &Problem) -> bool {
        match self {
            CredentialKind::ApiKey => problem.is_unauthorized(),
            CredentialKind::DeliveryToken => problem.is_not_found(),
        }
    }
}

/// Whether a key or token has the format of the issued ones.
pub(super) fn is_well_formed(kind: CredentialKind, token: &[u8]) -> bool {
    match kind {
        CredentialKind::ApiKey => is_api_key(token),
        CredentialKind::DeliveryToken => is_delivery_token(token),
    }
}

/// The format is `in_<id>_<base58 of 32 secret bytes>`; tokens from version 0.1.0 have no id.
fn is_delivery_token(token: &[u8]) -> bool {
    let Some(rest) = token.strip_prefix(b"in_") else { return false };
    let secret = match rest.iter().position(|byte| *byte == b'_') {
        Some(end) if is_id(&rest[..end]) => &rest[end + 1..],
        Some(_) => return false,
        None => rest,
    };
    decode(secret).is_some_and(|(_, rest)| rest.is_empty())
}

fn is_id(text: &[u8]) -> bool {
    (1..=10).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

/// The format is `keyed_<id>_<base58 of 32 secret bytes and their CRC-32>`.
fn is_api_key(token: &[u8]) -> bool {
    let Some(rest) = token.strip_prefix(b"keyed_") else { return false };
    let Some(end) = rest.iter().position(|byte| *byte == b'_') else { return false };
    let (number, secret) = (&rest[..end], &rest[end + 1..]);
    is_id(number)
        && decode(secret)
            .is_some_and(|(secret, checksum)| crc32fast::hash(&secret).to_be_bytes() == checksum[..])
}

/// Decodes the secret bytes and up to four bytes of the checksum.
fn decode(text: &[u8]) -> Option<([u8; SECRET], Vec<u8>)> {
    // The maximum length of base58 for this many bytes. Longer texts are not decoded.
    if text.len() > 2 * SECRET {
        return None;
    }
    let bytes = bs58::decode(text).into_vec().ok().filter(|bytes| bytes.len() <= SECRET + 4)?;
    let (secret, rest) = bytes.split_first_chunk::<SECRET>()?;
    Some((*secret, rest.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api_key(secret: [u8; SECRET]) -> String {
        let checksum = crc32fast::hash(&secret).to_be_bytes();
        format!("keyed_12_{}", bs58::encode([&secret[..], &checksum].concat()).into_string())
    }

    #[test]
    fn issued_token_is_well_formed() {
        for secret in [[0; SECRET], [255; SECRET], std::array::from_fn(|index| index as u8)] {
            assert!(is_well_formed(CredentialKind::ApiKey, api_key(secret).as_bytes()));
            for id in ["", "7_", "2130706433_"] {
                let token = format!("in_{id}{}", bs58::encode(secret).into_string());
                assert!(is_well_formed(CredentialKind::DeliveryToken, token.as_bytes()));
            }
            for id in ["_", "x_", "7__", "12345678901_"] {
                let token = format!("in_{id}{}", bs58::encode(secret).into_string());
                assert!(!is_well_formed(CredentialKind::DeliveryToken, token.as_bytes()), "{id}");
            }
        }
    }

    #[test]
    fn checksum_detects_one_wrong_character() {
        let key = api_key([7; SECRET]);
        let start = key.rfind('_').expect("a key has two") + 1;
        for position in start..key.len() {
            let mut wrong = key.clone().into_bytes();
            wrong[position] = if wrong[position] == b'2' { b'3' } else { b'2' };
            assert!(!is_well_formed(CredentialKind::ApiKey, &wrong), "{}", String::from_utf8_lossy(&wrong));
        }
        let long = format!("keyed_1_{}", "1".repeat(10_000));
        for other in
            ["", "x", "keyed_", "keyed_1_", "keyed__1", "keyed_x_1", &key[1..], &format!("{key}x"), &long]
        {
            assert!(!is_well_formed(CredentialKind::ApiKey, other.as_bytes()), "{other}");
            assert!(!is_well_formed(CredentialKind::DeliveryToken, other.as_bytes()), "{other}");
        }
    }
}
