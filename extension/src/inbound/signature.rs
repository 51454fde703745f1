//! Signatures of Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`. Pure.

use crate::error::{Code, Error};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The maximum difference between the time of a delivery and the server's time, in seconds.
pub const TOLERANCE: i64 = 300;

/// The prefix of secrets.
const PREFIX: &str = "whsec_";

/// The minimum and maximum size of a secret.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The signature headers of a delivery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: Option<&'a str>,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: Option<&'a str>,
    /// `webhook-signature`: `v1,` and base64; several are separated by spaces.
    pub signatures: Option<&'a str>,
}

/// A secret in text form.
pub fn encode_secret(secret: &[u8]) -> String {
    format!("{PREFIX}{}", STANDARD.encode(secret))
}

/// Parses a secret.
pub fn decode_secret(text: &str, pointer: &str) -> Result<Vec<u8>, Error> {
    let bytes = text.strip_prefix(PREFIX).and_then(|rest| STANDARD.decode(rest).ok());
    bytes.filter(|bytes| BYTES.contains(&bytes.len())).ok_or_else(|| {
        Error::at(Code::InvalidValue, pointer, "the secret is not a valid Standard Webhooks secret")
            .hint(format!("Write whsec_ and the base64 of {} to {} bytes.", BYTES.start(), BYTES.end()))
    })
}

/// Verifies the signature and the time of a delivery. All failures return the same error, except for missing headers.
pub fn verify(secret: &[u8], headers: Signed, body: &str, now: i64) -> Result<(), Error> {
    let (Some(id), Some(timestamp), Some(signatures)) =
        (headers.id.filter(|id| !id.is_empty()), headers.timestamp, headers.signatures)
    else {
        return Err(Error::new(Code::Unauthorized, "the delivery is not signed")
            .hint("Send the headers webhook-id, webhook-timestamp and webhook-signature."));
    };
    let is_near = timestamp.parse::<i64>().is_ok_and(|at| at.abs_diff(now) <= TOLERANCE.unsigned_abs());
    if is_near && is_signed(secret, [id, ".", timestamp, ".", body], signatures) {
        return Ok(());
    }
    Err(Error::new(Code::Unauthorized, "the signature of the delivery is not valid").hint(
        "Sign the body and headers as sent, with the secret of this endpoint and a timestamp within five \
         minutes.",
    ))
}

/// Whether one of the signatures matches. The body is hashed only once, because a header can contain many invalid signatures.
fn is_signed(secret: &[u8], parts: [&str; 5], signatures: &str) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    parts.into_iter().for_each(|part| mac.update(part.as_bytes()));
    let signatures = signatures.split(' ').filter_map(|it| it.strip_prefix("v1,"));
    // Constant-time comparison.
    signatures
        .filter_map(|signature| STANDARD.decode(signature).ok())
        .any(|signature| mac.clone().verify_slice(&signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &str = r#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const TIMESTAMP: i64 = 1_614_265_330;

    fn check(id: &str, timestamp: &str, signatures: &str, body: &str, now: i64) -> bool {
        let secret = decode_secret(SECRET, "").expect("a secret");
        let headers = Signed { id: Some(id), timestamp: Some(timestamp), signatures: Some(signatures) };
        verify(&secret, headers, body, now).is_ok()
    }

    #[test]
    fn published_test_vector_is_valid() {
        assert!(check(ID, "1614265330", SIGNATURE, BODY, TIMESTAMP));
    }

    #[test]
    fn one_valid_signature_of_several_suffices() {
        let other = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        assert!(check(ID, "1614265330", &format!("v1a,x {other} {SIGNATURE}"), BODY, TIMESTAMP));
        assert!(!check(ID, "1614265330", other, BODY, TIMESTAMP));
    }

    #[test]
    fn changed_delivery_is_rejected() {
        for (id, timestamp, signatures, body) in [
            ("msg_2", "1614265330", SIGNATURE, BODY),
            (ID, "1614265331", SIGNATURE, BODY),
            (ID, " 1614265330", SIGNATURE, BODY),
            (ID, "1614265330", SIGNATURE, "{\"test\":2432232314}"),
            (ID, "1614265330", &SIGNATURE[3..], BODY),
            (ID, "1614265330", "v1,", BODY),
            (ID, "1614265330", "v1,g0hM9SsE", BODY),
            (ID, "1614265330", "", BODY),
            ("", "1614265330", SIGNATURE, BODY),
        ] {
            assert!(
                !check(id, timestamp, signatures, body, TIMESTAMP),
                "{id} {timestamp} {signatures} {body}"
            );
        }
        let secret = decode_secret(SECRET, "").expect("a secret");
        assert!(verify(&secret, Signed::default(), BODY, TIMESTAMP).is_err());
    }

    #[test]
    fn delivery_is_valid_for_five_minutes() {
        for (seconds, holds) in [(0, true), (300, true), (-300, true), (301, false), (-301, false)] {
            assert_eq!(check(ID, "1614265330", SIGNATURE, BODY, TIMESTAMP + seconds), holds, "{seconds}");
        }
        assert!(!check(ID, "-9223372036854775808", SIGNATURE, BODY, i64::MAX));
    }

    #[test]
    fn secret_round_trips_and_weak_secret_is_rejected() {
        let secret = [7; 32];
        assert_eq!(decode_secret(&encode_secret(&secret), "").ok(), Some(secret.to_vec()));
        for bad in [
            "",
            "whsec_",
            "whsec_!",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            &encode_secret(&[1; 23]),
            &encode_secret(&[1; 65]),
        ] {
            assert!(decode_secret(bad, "/secret").is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn only_the_signed_content_is_accepted(
            secret in prop::collection::vec(any::<u8>(), 24..=64),
            id in any::<String>().prop_filter("an id", |id| !id.is_empty()),
            body in any::<String>(),
            before in "(v1a?,[A-Za-z0-9+/=]{0,44} ){0,3}",
            flipped in any::<prop::sample::Index>(),
        ) {
            let mut mac = Hmac::<Sha256>::new_from_slice(&secret).expect("a secret");
            mac.update(format!("{id}.{TIMESTAMP}.{body}").as_bytes());
            let mut signature = mac.finalize().into_bytes().to_vec();
            let timestamp = TIMESTAMP.to_string();
            let holds = |signature: &[u8]| {
                let signatures = format!("{before}v1,{}", STANDARD.encode(signature));
                let headers =
                    Signed { id: Some(&id), timestamp: Some(&timestamp), signatures: Some(&signatures) };
                verify(&secret, headers, &body, TIMESTAMP).is_ok()
            };
            prop_assert!(holds(&signature) && !holds(&signature[1..]) && !holds(&[]));
            let byte = flipped.index(signature.len());
            signature[byte] ^= 1;
            prop_assert!(!holds(&signature));
        }

        #[test]
        fn guessed_signature_is_rejected(id in any::<String>(), timestamp in any::<String>(), signatures in any::<String>()) {
            prop_assert!(!check(&id, &timestamp, &signatures, BODY, TIMESTAMP));
        }

        #[test]
        fn arbitrary_text_is_a_secret_or_rejected(
            text in prop_oneof![any::<String>(), "whsec_[A-Za-z0-9+/]{30,90}={0,2}"],
        ) {
            if let Ok(secret) = decode_secret(&text, "/secret") {
                prop_assert!(BYTES.contains(&secret.len()));
                prop_assert_eq!(encode_secret(&secret), text);
            }
        }
    }
}
