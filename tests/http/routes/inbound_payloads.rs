//! Payloads with values that PostgreSQL cannot store.

use super::inbound::endpoint;
use harness::Service;
use serde_json::json;

#[tokio::test]
async fn unmapped_member_does_not_fail_a_delivery() {
    let service = Service::start().await;
    let sender = endpoint(&service, false).await;
    let body = r#"{"\u0000": "\ud83d", "n": [1e999999, -1e-99999], "customers": [
        {"id": 1, "name": "Ada", "clipboard": "x\u0000y"}, {"id": 2, "name": "\ud83d\ude00 \\u0000", "preview": "cut \ud83d"}]}"#;
    let delivered = service.deliver(&sender, body).await.expect(200);
    assert_eq!(delivered, json!({"created": 2, "updated": 0}));
    let keys = service.post("/entities/search/customers", json!({"sort": "external_key"})).await.expect(200);
    assert_eq!(keys["records"][0]["attributes"]["name"], "Ada");
    assert_eq!(keys["records"][1]["attributes"]["name"], "😀 \\u0000");
}

#[tokio::test]
async fn failed_delivery_keeps_its_payload_unchanged() {
    let service = Service::start().await;
    let sender = endpoint(&service, false).await;
    let body = r#"{"customers": [{"id": 1, "name": "x"}, {"id": 2, "name": "a\u0000b"}]}"#;
    let rejected = service.deliver(&sender, body).await.expect(202);
    assert_eq!(rejected["code"], "invalid_value");
    let id = rejected["delivery"].as_str().expect("an id");
    let kept = service.get(&format!("/inbound-endpoints/{}/deliveries/{id}", sender.id)).await;
    assert!(kept.text.ends_with(&format!("\"payload\":{body}}}")), "{}", kept.text);
    let error = kept.expect(200)["error"].clone();
    assert_eq!(error["errors"][0]["pointer"], "/items/1/attributes/name", "{error}");
    assert_eq!(
        error["detail"], "the path $.name finds a string with U+0000, which PostgreSQL cannot store",
        "{error}"
    );
}
