//! Nothing is delivered to networks that are not public, unless the operator lists them.

use super::{create, service_with, until_tried};
use harness::Receiver;
use serde_json::json;

#[tokio::test]
async fn address_of_this_machine_is_rejected() {
    let receiver = Receiver::start().await;
    let port = receiver.url("").rsplit(':').next().expect("a port").to_owned();
    for allowed in ["", "10.0.0.0/8,192.168.0.0/16"] {
        let service = service_with(&[("KEYED_WEBHOOK_ALLOW", allowed)]).await;
        for (number, host) in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"].iter().enumerate() {
            for scheme in ["http", "https"] {
                let slug = format!("e{number}_{scheme}");
                create(&service, &slug, &format!("{scheme}://{host}:{port}/"), json!({})).await;
            }
        }
        service.upsert("a", json!({})).await.expect(201);
        for number in 0..4 {
            for scheme in ["http", "https"] {
                let entry = until_tried(&service, &format!("e{number}_{scheme}"), 1, "pending").await;
                let error = entry["last_error"].as_str().expect("an error");
                assert!(error.contains("it is not a public address"), "{number} {scheme}: {error}");
                assert_eq!(entry["last_status"], json!(null));
            }
        }
    }
    assert!(receiver.deliveries().is_empty());
}

#[tokio::test]
async fn listed_host_gets_deliveries() {
    let receiver = Receiver::start().await;
    let port = receiver.url("").rsplit(':').next().expect("a port").to_owned();
    let service = service_with(&[("KEYED_WEBHOOK_ALLOW", "127.0.0.0/8,::1")]).await;
    create(&service, "shop", &format!("http://localhost:{port}/x"), json!({})).await;
    service.upsert("a", json!({})).await.expect(201);
    let deliveries = receiver.until_delivered(1).await.remove(0);
    assert_eq!((deliveries.path.as_str(), &deliveries.headers["host"]), ("/x", &format!("localhost:{port}")));
}
