//! Webhook endpoints: administrators configure them and view deliveries.

use crate::run;
use harness::{Database, Service};
use serde_json::json;

/// A service that may deliver to this machine, with two customers.
async fn delivering() -> Service {
    let database = Database::with_crm().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let settings = [("KEYED_WEBHOOK_API_KEY", &*key), ("KEYED_WEBHOOK_ALLOW", "127.0.0.0/8")];
    let service = Service::over(database, &settings).await;
    for (key, name) in [("erp:0", "Anna"), ("erp:1", "Beat")] {
        service.upsert(key, json!({"name": name})).await.expect(201);
    }
    service
}

#[tokio::test]
async fn endpoint_is_created_tested_changed_and_removed() {
    run(&delivering().await, "webhooks/endpoint", json!({})).await;
}

#[tokio::test]
async fn failed_delivery_is_shown_and_sent_again() {
    run(&delivering().await, "webhooks/deliveries", json!({})).await;
}
