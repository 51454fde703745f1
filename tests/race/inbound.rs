//! Concurrent deliveries.

use crate::assert_no_deadlock;
use harness::customers::{HISTORY, SERIES};
use harness::{Sender, Service};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::JoinSet;

async fn service() -> (Arc<Service>, Sender) {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "12"), ("KEYED_POOL_WAIT", "30")]).await;
    let definition = json!({"slug": "shop", "template": "customers", "items": "$[*]", "external_key": "$.id",
                            "mapping": {"visits": "$.visits", "mood": "$.mood"}});
    let made = service.post("/inbound-endpoints", definition).await.expect(201);
    (Arc::new(service), Sender::of(&made))
}

#[tokio::test]
async fn eight_identical_deliveries_have_one_effect() {
    let (service, sender) = service().await;
    for round in 0..5 {
        let body = json!([{"id": format!("K-{round}"), "visits": {"$inc": 1}, "mood": 1}]).to_string();
        let mut senders = JoinSet::new();
        for _ in 0..8 {
            let (service, sender, body) = (Arc::clone(&service), sender.clone(), body.clone());
            senders.spawn(async move {
                service.deliver_signed(&sender, &format!("msg_{round}"), &body).await.expect(200)
            });
        }
        for response in senders.join_all().await {
            assert_eq!(response, json!({"created": 1, "updated": 0}));
        }
    }
    let session = service.session().await;
    assert_eq!(
        session.text("select string_agg(visits::text, ' ') from crm.customers", &[]).await,
        "1 1 1 1 1"
    );
    assert_eq!(session.text(&format!("select count(*) from {SERIES}"), &[]).await, "5");
    assert_eq!(session.text(&format!("select count(*) from {HISTORY}"), &[]).await, "5");
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "5");
}

#[tokio::test]
async fn deliveries_of_the_same_records_do_not_deadlock() {
    let (service, sender) = service().await;
    let session = service.session().await;
    let mut senders = JoinSet::new();
    for caller in 0..8_usize {
        let (service, sender) = (Arc::clone(&service), sender.clone());
        senders.spawn(async move {
            for round in 0..10 {
                // Each delivery has the same keys, with a different start and direction.
                let mut items: Vec<Value> = (0..20)
                    .map(|n| json!({"id": format!("K-{n}"), "visits": caller * 100 + round}))
                    .collect();
                items.rotate_left((caller * 3 + round) % 20);
                if caller % 2 == 1 {
                    items.reverse();
                }
                let id = format!("msg_{caller}_{round}");
                service.deliver_signed(&sender, &id, &json!(items).to_string()).await.expect(200);
            }
        });
    }
    senders.join_all().await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "20");
    assert_eq!(
        session.text("select count(distinct visits) from crm.customers", &[]).await,
        "1",
        "whole deliveries"
    );
    assert_no_deadlock(&service.database);
}
