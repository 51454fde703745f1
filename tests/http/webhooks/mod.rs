//! Outgoing webhooks, with a real receiver.

mod addresses;
mod deliveries;
mod endpoints;
mod failures;
mod libraries;
mod workers;

use harness::{Database, Receiver, Service, Session};
use serde_json::{Value, json};

/// Settings of a proxy that may deliver to this machine.
fn settings(key: &str) -> Vec<(&str, &str)> {
    vec![
        ("KEYED_WEBHOOK_API_KEY", key),
        ("KEYED_WEBHOOK_ALLOW", "127.0.0.0/8"),
        ("KEYED_WEBHOOK_TIMEOUT", "2"),
    ]
}

/// A service that may deliver to this machine, with these additional settings.
async fn service_with(more: &[(&str, &str)]) -> Service {
    let database = Database::with_crm().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let mut all = settings(&key);
    all.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    all.extend(more);
    Service::over(database, &all).await
}

/// A service with an endpoint `shop` for this receiver.
async fn service(receiver: &Receiver) -> Service {
    let service = service_with(&[]).await;
    create(&service, "shop", &receiver.url("/hooks"), json!({})).await;
    service
}

async fn create(service: &Service, slug: &str, url: &str, more: Value) -> Value {
    let mut definition = json!({"slug": slug, "url": url});
    definition.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    service.post("/webhook-endpoints", definition).await.expect(201)
}

/// The log of an endpoint, newest first.
async fn log(service: &Service, slug: &str) -> Vec<Value> {
    let page = service.get(&format!("/webhook-endpoints/{slug}/deliveries")).await.expect(200);
    page["deliveries"].as_array().expect("deliveries").clone()
}

/// Waits until the only delivery to an endpoint has this number of attempts and this status.
async fn until_tried(service: &Service, slug: &str, attempts: u64, state: &str) -> Value {
    let mut entry = Value::Null;
    harness::until("the delivery is tried", async || {
        entry = log(service, slug).await.pop().unwrap_or_default();
        entry["attempts"] == attempts && entry["state"] == state
    })
    .await;
    entry
}

/// Makes all deliveries that wait for a retry due.
async fn make_due(session: &Session) {
    session.run("update keyed_state.webhook_delivery set due_at = now() where state = 'pending'").await;
}
