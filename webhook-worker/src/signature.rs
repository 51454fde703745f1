//! Signatures of Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`. Pure.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header `webhook-signature`: a signature for each secret (`whsec_…`).
pub(crate) fn sign(secrets: &[String], id: &str, timestamp: u64, body: &str) -> Result<String, String> {
    let signatures = secrets.iter().map(|secret| {
        let key = secret.strip_prefix("whsec_").and_then(|rest| STANDARD.decode(rest).ok());
        let key = key.ok_or_else(|| "the secret of the endpoint cannot be read".to_owned())?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body.as_bytes());
        Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    });
    Ok(signatures.collect::<Result<Vec<String>, String>>()?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_matches_the_specification() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", r#"{"test": 2432232314}"#);
        let one = sign(std::slice::from_ref(&secret), id, 1_614_265_330, body);
        assert_eq!(one.as_deref(), Ok("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
        let two = sign(&[secret.clone(), secret], id, 1_614_265_330, body).expect("two signatures");
        assert_eq!(two.split(' ').count(), 2);
        assert!(sign(&["secret".to_owned()], id, 1, body).is_err_and(|message| !message.contains("whsec")));
    }
}
