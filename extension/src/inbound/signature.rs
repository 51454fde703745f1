//! Signatures as Standard Webhooks has them: HMAC-SHA-256 over `id.timestamp.body`. Pure.

use crate::error::{Code, Error};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// How far the time of a delivery may be from ours, either way: seconds.
pub const TOLERANCE: i64 = 300;

/// What a secret begins with.
const PREFIX: &str = "whsec_";

/// The least and the most bytes of a secret.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The headers of a delivery that say who sent it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: Option<&'a str>,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: Option<&'a str>,
    /// `webhook-signature`: `v1,` and base64, several with spaces between.
    pub signatures: Option<&'a str>,
}

/// A secret as people copy it.
pub fn encode_secret(secret: &[u8]) -> String {
    format!("{PREFIX}{}", STANDARD.encode(secret))
}

/// Reads a secret that the sender made.
pub fn decode_secret(text: &str, pointer: &str) -> Result<Vec<u8>, Error> {
    let bytes = text.strip_prefix(PREFIX).and_then(|rest| STANDARD.decode(rest).ok());
    bytes.filter(|bytes| BYTES.contains(&bytes.len())).ok_or_else(|| {
        Error::at(Code::InvalidValue, pointer, "this is not a secret of Standard Webhooks").hint(format!(
            "write whsec_ and the base64 of {} to {} bytes, as the sender shows it",
            BYTES.start(),
            BYTES.end()
        ))
    })
}

/// Makes sure that whoever knows the secret sent this body at about this time. All ways to fail have one answer but the
/// missing of headers, which tells nothing.
pub fn verify(secret: &[u8], headers: Signed, body: &str, now: i64) -> Result<(), Error> {
    let (Some(id), Some(timestamp), Some(signatures)) =
        (headers.id.filter(|id| !id.is_empty()), headers.timestamp, headers.signatures)
    else {
        return Err(Error::new(Code::Unauthorized, "the delivery is not signed")
            .hint("this endpoint wants the headers webhook-id, webhook-timestamp and webhook-signature"));
    };
    let is_near = timestamp.parse::<i64>().is_ok_and(|at| at.abs_diff(now) <= TOLERANCE.unsigned_abs());
    let is_signed = signatures.split(' ').filter_map(|it| it.strip_prefix("v1,")).any(|signature| {
        STANDARD.decode(signature).is_ok_and(|signature| {
            // Compares in a time that does not depend on where the two differ.
            Hmac::<Sha256>::new_from_slice(secret).is_ok_and(|mut mac| {
                for part in [id, ".", timestamp, ".", body] {
                    mac.update(part.as_bytes());
                }
                mac.verify_slice(&signature).is_ok()
            })
        })
    });
    if is_near && is_signed {
        return Ok(());
    }
    Err(Error::new(Code::Unauthorized, "the signature of the delivery does not hold").hint(
        "the secret, the body and the headers must be those that were signed, within five minutes of our clock",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_published_test_vector_holds() {
        assert!(check(ID, "1614265330", SIGNATURE, BODY, TIMESTAMP));
    }

    #[test]
    fn one_good_signature_among_several_is_enough() {
        let other = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        assert!(check(ID, "1614265330", &format!("v1a,x {other} {SIGNATURE}"), BODY, TIMESTAMP));
        assert!(!check(ID, "1614265330", other, BODY, TIMESTAMP));
    }

    #[test]
    fn whatever_differs_from_what_was_signed_is_refused() {
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
    fn a_delivery_holds_for_five_minutes_either_way() {
        for (seconds, holds) in [(0, true), (300, true), (-300, true), (301, false), (-301, false)] {
            assert_eq!(check(ID, "1614265330", SIGNATURE, BODY, TIMESTAMP + seconds), holds, "{seconds}");
        }
        assert!(!check(ID, "-9223372036854775808", SIGNATURE, BODY, i64::MAX));
    }

    #[test]
    fn a_secret_reads_back_and_a_weak_one_is_refused() {
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
}
