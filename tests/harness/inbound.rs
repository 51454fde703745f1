//! Deliveries from another system, signed according to Standard Webhooks.

use crate::{Response, Service};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

/// The response to the creation of an endpoint.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The id of the endpoint.
    pub id: String,
    /// The token, which is the last segment of its URL.
    pub token: String,
    /// The secret; empty if deliveries are not signed.
    pub secret: String,
}

impl Sender {
    /// Reads the response that created an endpoint.
    pub fn of(made: &Value) -> Self {
        let text = |member: &str| made[member].as_str().unwrap_or_default().to_owned();
        Self { id: text("id"), token: text("token"), secret: text("secret") }
    }

    /// The signature of a delivery.
    pub fn sign(&self, webhook_id: &str, timestamp: i64, body: &str) -> String {
        let secret = STANDARD.decode(self.secret.trim_start_matches("whsec_")).expect("a secret in base64");
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).expect("a key of any length");
        mac.update(format!("{webhook_id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Seconds since 1970.
pub fn unix_time() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
    i64::try_from(elapsed.as_secs()).expect("not that far in the future")
}

impl Service {
    /// Delivers a body without a signature and id.
    pub async fn deliver(&self, sender: &Sender, body: &str) -> Response {
        let path = format!("/v1/inbound/{}", sender.token);
        let request = self.proxy.request("POST", &path).without_key().without_project();
        request.body("application/json", body.to_owned()).send().await
    }

    /// Delivers a body with an id and its signature.
    pub async fn deliver_signed(&self, sender: &Sender, webhook_id: &str, body: &str) -> Response {
        let now = unix_time();
        let signature = sender.sign(webhook_id, now, body);
        self.deliver_with(sender, webhook_id, now, &signature, body).await
    }

    /// Delivers a body with these headers.
    pub async fn deliver_with(
        &self,
        sender: &Sender,
        webhook_id: &str,
        timestamp: i64,
        signature: &str,
        body: &str,
    ) -> Response {
        let path = format!("/v1/inbound/{}", sender.token);
        let request = self.proxy.request("POST", &path).without_key().without_project();
        request
            .header("webhook-id", webhook_id)
            .header("webhook-timestamp", &timestamp.to_string())
            .header("webhook-signature", signature)
            .body("application/json", body.to_owned())
            .send()
            .await
    }
}
