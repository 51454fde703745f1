//! Deliveries as a receiver gets them.

use super::{create, log, make_due, service, service_with, until_tried};
use harness::{Reaction, Receiver, Sender, until};
use serde_json::json;

#[tokio::test]
async fn change_arrives_with_its_signature() {
    let receiver = Receiver::start().await;
    let service = service_with(&[]).await;
    let more = json!({"include_record": true, "templates": ["customers"]});
    let made = create(&service, "shop", &receiver.url("/hooks?a=b"), more).await;
    let record = service.create(json!({"external_key": "a", "attributes": {"visits": 1}})).await;
    let deliveries = receiver.until_delivered(1).await.remove(0);
    assert_eq!(deliveries.path, "/hooks?a=b");
    let body = deliveries.json();
    assert_eq!(body["type"], "record.created");
    assert_eq!(body["timestamp"], body["data"]["at"]);
    assert_eq!((&body["data"]["id"], &body["data"]["external_key"]), (&record["id"], &json!("a")));
    assert_eq!((&body["data"]["operation"], &body["data"]["source"]), (&json!("create"), &json!("api")));
    assert_eq!(body["data"]["record"]["attributes"], record["attributes"]);
    assert_eq!(deliveries.headers["content-type"], "application/json");
    assert!(deliveries.headers["user-agent"].starts_with("keyed/"));
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    let sender = Sender { id: String::new(), token: String::new(), secret };
    let timestamp: i64 = deliveries.headers["webhook-timestamp"].parse().expect("seconds");
    assert!((harness::unix_time() - timestamp).abs() < 60, "{timestamp}");
    let signature = sender.sign(deliveries.id(), timestamp, &deliveries.body);
    assert_eq!(deliveries.headers["webhook-signature"], signature);
    let entry = until_tried(&service, "shop", 1, "done").await;
    assert_eq!((&entry["id"], &entry["last_status"]), (&json!(deliveries.id()), &json!(204)));
}

#[tokio::test]
async fn delivery_is_read_with_its_body() {
    let receiver = Receiver::start().await;
    let service = service_with(&[]).await;
    create(&service, "shop", &receiver.url("/hooks"), json!({"include_record": true})).await;
    create(&service, "other", &receiver.url("/other"), json!({"enabled": false})).await;
    let record = service.create(json!({"external_key": "a", "attributes": {"visits": 1}})).await;
    let deliveries = receiver.until_delivered(1).await.remove(0);
    let mut entry = until_tried(&service, "shop", 1, "done").await;
    let path = format!("/webhook-endpoints/shop/deliveries/{}", deliveries.id());
    let read = service.get(&path).await.expect(200);
    entry["body"] = json!(deliveries.body);
    assert_eq!(read, entry);
    // The body has the record as it is at the time of sending.
    let id = record["id"].as_str().expect("an id");
    service.patch(&format!("/entities/{id}"), json!({"attributes": {"visits": 2}})).await.expect(200);
    let body = service.get(&path).await.expect(200)["body"].as_str().expect("a body").to_owned();
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body["data"]["record"]["attributes"]["visits"], 2);
    // The delivery belongs only to its endpoint.
    let of_other = path.replace("shop", "other");
    service.get(&of_other).await.expect_error(404, "not_found");
    service.get("/webhook-endpoints/shop/deliveries/1").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn changes_of_a_record_arrive_in_order() {
    let receiver = Receiver::start_with(|deliveries| match deliveries.number % 3 {
        1 => Reaction::success().after(std::time::Duration::from_millis(30)),
        _ => Reaction::success(),
    })
    .await;
    let service = service(&receiver).await;
    for visits in 0..12 {
        for key in ["a", "b", "c"] {
            service.upsert(key, json!({"visits": visits})).await;
        }
    }
    let deliveries = receiver.until_delivered(36).await;
    for key in ["a", "b", "c"] {
        let of_key: Vec<_> =
            deliveries.iter().filter(|it| it.json()["data"]["external_key"] == key).collect();
        let mut times: Vec<String> = of_key.iter().map(|it| it.json()["data"]["at"].to_string()).collect();
        assert_eq!(times.len(), 12);
        let sent = times.clone();
        times.sort();
        assert_eq!(sent, times, "{key}");
        assert_eq!(of_key[0].json()["type"], "record.created");
    }
}

#[tokio::test]
async fn failed_delivery_is_sent_again_with_its_id() {
    let receiver = Receiver::start_with(|deliveries| match deliveries.number {
        0 => Reaction::Status(503, "retry-after: 100\r\n".to_owned(), "busy".to_owned()),
        _ => Reaction::success(),
    })
    .await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    let entry = until_tried(&service, "shop", 1, "pending").await;
    assert_eq!((&entry["last_status"], &entry["response"]), (&json!(503), &json!("busy")));
    assert!(entry["last_error"].as_str().is_some_and(|error| error.contains("503")), "{entry}");
    let session = service.session().await;
    let rest = "select extract(epoch from due_at - now()) > 80 from keyed_state.webhook_delivery";
    assert_eq!(session.text(rest, &[]).await, "t", "Retry-After is honored");
    make_due(&session).await;
    until_tried(&service, "shop", 2, "done").await;
    let deliveries = receiver.deliveries();
    assert_eq!(deliveries.len(), 2);
    assert_eq!(deliveries[0].id(), deliveries[1].id());
    assert_eq!(deliveries[0].body, deliveries[1].body);
}

#[tokio::test]
async fn receiver_that_responds_410_gets_no_more_deliveries() {
    let receiver = Receiver::start_with(|_| Reaction::status(410)).await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    until("the endpoint is disabled", async || {
        service.get("/webhook-endpoints/shop").await.expect(200)["enabled"] == false
    })
    .await;
    service.upsert("b", json!({})).await.expect(201);
    // A later delivery to another endpoint proves that the worker has processed the change.
    let other = Receiver::start().await;
    create(&service, "other", &other.url("/"), json!({})).await;
    service.upsert("c", json!({})).await.expect(201);
    other.until_delivered(1).await;
    assert_eq!(receiver.deliveries().len(), 1);
}

#[tokio::test]
async fn test_and_replayed_deliveries_are_sent() {
    let receiver = Receiver::start().await;
    let service = service(&receiver).await;
    let queued = service.post("/webhook-endpoints/shop/test", json!({})).await.expect(202);
    let test = receiver.until_delivered(1).await.remove(0);
    assert_eq!((test.id(), &test.json()["type"]), (queued["id"].as_str().expect("an id"), &json!("test")));
    service.upsert("a", json!({})).await.expect(201);
    let first = receiver.until_delivered(2).await.remove(1);
    until("it is done", async || log(&service, "shop").await[0]["state"] == "done").await;
    let path = format!("/webhook-endpoints/shop/deliveries/{}/replay", first.id());
    service.post(&path, json!({})).await.expect(202);
    let second = receiver.until_delivered(3).await.remove(2);
    assert_eq!((second.id(), second.json()), (first.id(), first.json()));
}
