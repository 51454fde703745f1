//! Deliveries from other systems over HTTP.

use harness::{Sender, Service, encode, unix_time};
use serde_json::{Value, json};

/// An endpoint for customers, as JSON.
fn definition(signed: bool) -> Value {
    json!({"slug": "shop", "template": "customers", "items": "$.customers[*]", "external_key": "$.id", "key_prefix": "shop:",
           "mapping": {"name": "$.name", "visits": "$.stats.visits", "tags": "$.tags[*]", "company": {"path": "$.company", "key_prefix": "C-"}},
           "signed": signed})
}

pub(crate) async fn endpoint(service: &Service, signed: bool) -> Sender {
    Sender::of(&service.post("/inbound-endpoints", definition(signed)).await.expect(201))
}

const TWO: &str = r#"{"customers": [{"id": 1, "name": "Ada", "stats": {"visits": 12345678901234567890.50}, "tags": ["a", "b"]},
                                    {"id": "x", "name": "Bob"}]}"#;

#[tokio::test]
async fn signed_delivery_becomes_records() {
    let service = Service::start().await;
    let sender = endpoint(&service, true).await;
    let response = service.deliver_signed(&sender, "msg_1", TWO).await;
    assert_eq!(response.expect(200), json!({"created": 2, "updated": 0}));
    let ada = service.by_key("shop:1").await;
    assert!(ada.text.contains("12345678901234567890.50"), "every digit is kept: {}", ada.text);
    let ada = ada.expect(200);
    assert_eq!((&ada["attributes"]["name"], &ada["attributes"]["tags"]), (&json!("Ada"), &json!(["a", "b"])));
    let history = service.get(&format!("/entities/{}/history", harness::id_of(&ada))).await.expect(200);
    let entry = &history["history"][0];
    assert_eq!((&entry["source"], &entry["actor"]), (&json!("inbound"), &json!("endpoint shop")));

    // An attribute whose path finds no value is unchanged; null clears it, and an empty array empties it.
    let body = r#"{"customers": [{"id": 1, "name": null, "tags": []}]}"#;
    let response = service.deliver_signed(&sender, "msg_2", body).await;
    assert_eq!(response.expect(200), json!({"created": 0, "updated": 1}));
    let ada = service.by_key("shop:1").await;
    assert!(ada.text.contains("12345678901234567890.50"), "{}", ada.text);
    let ada = ada.expect(200);
    assert_eq!((&ada["attributes"]["name"], &ada["attributes"]["tags"]), (&Value::Null, &json!([])));
}

#[tokio::test]
async fn repeated_delivery_has_one_effect() {
    let service = Service::start().await;
    let sender = endpoint(&service, true).await;
    service.deliver_signed(&sender, "msg_1", TWO).await.expect(200);
    service.upsert("shop:1", json!({"name": "Changed since"})).await.expect(200);
    for body in [TWO, r#"{"customers": [{"id": 3}]}"#] {
        let response = service.deliver_signed(&sender, "msg_1", body).await;
        assert_eq!(response.expect(200), json!({"created": 2, "updated": 0}), "the first result");
    }
    assert_eq!(service.by_key("shop:1").await.expect(200)["attributes"]["name"], "Changed since");
    service.by_key("shop:3").await.expect_error(404, "not_found");
    // This includes deliveries whose payload has been removed.
    service.session().await.run("select keyed.purge_deliveries(now() + interval '1 hour')").await;
    service.deliver_signed(&sender, "msg_1", TWO).await.expect(200);
    assert_eq!(service.by_key("shop:1").await.expect(200)["attributes"]["name"], "Changed since");
}

#[tokio::test]
async fn delivery_with_an_invalid_signature_leaves_no_trace() {
    let service = Service::start().await;
    let sender = endpoint(&service, true).await;
    let unprivileged = Sender { secret: format!("whsec_{}", "A".repeat(43) + "="), ..sender.clone() };
    let now = unix_time();
    let good = sender.sign("msg_1", now, TWO);
    service.deliver(&sender, TWO).await.expect_error(401, "unauthorized");
    service.deliver_signed(&unprivileged, "msg_1", TWO).await.expect_error(401, "unauthorized");
    for (id, timestamp, signature, body) in [
        ("msg_2", now, good.as_str(), TWO),
        ("msg_1", now + 1, good.as_str(), TWO),
        ("msg_1", now, good.as_str(), "{}"),
        ("msg_1", now, &good.replace("v1,", "v2,"), TWO),
        ("msg_1", now - 301, &sender.sign("msg_1", now - 301, TWO), TWO),
        ("msg_1", now + 400, &sender.sign("msg_1", now + 400, TWO), TWO),
    ] {
        service.deliver_with(&sender, id, timestamp, signature, body).await.expect_error(401, "unauthorized");
    }
    let session = service.session().await;
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "0");
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0");
    // One valid signature among several is enough, as during a rotation of the secret.
    let several = format!("v1,{} {good}", "A".repeat(43) + "=");
    service.deliver_with(&sender, "msg_1", now, &several, TWO).await.expect(200);
}

#[tokio::test]
async fn failed_delivery_is_stored_completely_and_writes_nothing() {
    let service = Service::start().await;
    let sender = endpoint(&service, false).await;
    let deliveries = format!("/inbound-endpoints/{}/deliveries", sender.id);
    for (body, code, pointer) in [
        (
            r#"{"customers": [{"id": 1, "name": "Ada"}, {"id": 2, "name": 5}]}"#,
            "invalid_value",
            "/items/1/attributes/name",
        ),
        (
            r#"{"customers": [{"id": 1, "name": "Ada"}, {"name": "No key"}]}"#,
            "invalid_external_key",
            "/items/1/external_key",
        ),
        (r#"{"customers": [{"id": 1.5}]}"#, "invalid_external_key", "/items/0/external_key"),
        (r#"{"customers": [{"id": "a\tb"}]}"#, "invalid_external_key", "/items/0/external_key"),
        (
            r#"{"customers": [{"id": 1}, {"id": 2, "company": "nowhere"}]}"#,
            "reference_not_found",
            "/items/1/attributes/company",
        ),
        (r#"{"costumers": [{"id": 1, "name": "Ada"}]}"#, "invalid_value", "/items"),
    ] {
        let rejected = service.deliver(&sender, body).await;
        assert_eq!(rejected.status, 202, "{}", rejected.text);
        assert_eq!(
            (&rejected.body["status"], &rejected.body["code"]),
            (&json!("failed"), &json!(code)),
            "{body}"
        );
        let id = rejected.body["delivery"].as_str().expect("an id").to_owned();
        let kept = service.get(&format!("{deliveries}/{id}")).await;
        assert!(
            kept.text.ends_with(&format!("\"payload\":{body}}}")),
            "unchanged, character by character: {}",
            kept.text
        );
        let error = kept.expect(200)["error"].clone();
        assert_eq!(
            (&error["code"], error["errors"][0]["pointer"].as_str().unwrap_or_default()),
            (&json!(code), pointer)
        );
    }
    let session = service.session().await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0", "no partial write");
    let failed = service.get(&format!("{deliveries}?status=failed&limit=4")).await.expect(200);
    assert_eq!(failed["deliveries"].as_array().map(Vec::len), Some(4));
    let next = failed["next_cursor"].as_str().expect("a cursor");
    let rest = service.get(&format!("{deliveries}?status=failed&cursor={next}")).await.expect(200);
    assert_eq!((rest["deliveries"].as_array().map(Vec::len), &rest["next_cursor"]), (Some(2), &Value::Null));
    let done = service.get(&format!("{deliveries}?status=done")).await.expect(200);
    assert_eq!(done["deliveries"], json!([]));
}

#[tokio::test]
async fn delivery_without_the_items_member_is_stored_as_failed() {
    let service = Service::start().await;
    let sender = endpoint(&service, true).await;
    let path = format!("/inbound-endpoints/{}", sender.id);
    let none = service.deliver_signed(&sender, "msg_1", r#"{"customers": []}"#).await;
    assert_eq!(none.expect(200), json!({"created": 0, "updated": 0}));
    let renamed = service.deliver_signed(&sender, "msg_2", r#"{"clients": [{"id": 1}]}"#).await;
    assert_eq!((renamed.status, &renamed.body["code"]), (202, &json!("invalid_value")));
    let id = renamed.body["delivery"].as_str().expect("an id");
    service.patch(&path, json!({"items": "$.clients[*]"})).await.expect(200);
    let replayed = service.post(&format!("{path}/deliveries/{id}/replay"), json!({})).await.expect(200);
    assert_eq!((&replayed["status"], &replayed["created"]), (&json!("done"), &json!(1)));
}

#[tokio::test]
async fn failed_delivery_is_replayed_after_a_fix_of_the_mapping() {
    let service = Service::start().await;
    let sender = endpoint(&service, true).await;
    let path = format!("/inbound-endpoints/{}", sender.id);
    let body = r#"{"customers": [{"id": 1, "name": {"first": "Ada"}}]}"#;
    let first = service.deliver_signed(&sender, "msg_1", body).await;
    assert_eq!(first.status, 202);
    let again = service.deliver_signed(&sender, "msg_1", body).await;
    assert_eq!((again.status, &again.body), (202, &first.body), "a repeated request gets the first response");
    let id = first.body["delivery"].as_str().expect("an id");
    let replay = format!("{path}/deliveries/{id}/replay");
    let line = service.post(&replay, json!({})).await;
    assert_eq!((line.status, &line.body["status"]), (202, &json!("failed")));

    let fixed = json!({"mapping": {"name": "$.name.first"}});
    let trial =
        json!({"payload": serde_json::from_str::<Value>(body).expect("JSON"), "mapping": fixed["mapping"]});
    let tried = service.post(&format!("{path}/dry-run"), trial).await.expect(200);
    assert_eq!(
        tried,
        json!({"items": [{"external_key": "shop:1", "attributes": {"name": "Ada"}}], "created": 1, "updated": 0, "error": null})
    );
    service.by_key("shop:1").await.expect_error(404, "not_found");

    service.patch(&path, fixed).await.expect(200);
    let line = service.post(&replay, json!({})).await;
    assert_eq!((line.status, &line.body["status"], &line.body["created"]), (200, &json!("done"), &json!(1)));
    assert_eq!(service.by_key("shop:1").await.expect(200)["attributes"]["name"], "Ada");
    service.post(&replay, json!({})).await.expect_error(409, "conflict");
    let repeated = service.deliver_signed(&sender, "msg_1", body).await;
    assert_eq!(repeated.expect(200), json!({"created": 1, "updated": 0}));

    for number in 2..5 {
        let body = json!({"customers": [{"id": number, "company": number}]}).to_string();
        let response = service.deliver(&Sender { ..sender.clone() }, &body).await;
        response.expect_error(401, "unauthorized");
        assert_eq!(service.deliver_signed(&sender, &format!("msg_{number}"), &body).await.status, 200);
    }
    service
        .patch(&path, json!({"mapping": {"company": {"path": "$.company", "key_prefix": "C-"}}}))
        .await
        .expect(200);
    for number in 5..8 {
        let body = json!({"customers": [{"id": number, "company": number}]}).to_string();
        assert_eq!(service.deliver_signed(&sender, &format!("msg_{number}"), &body).await.status, 202);
    }
    service
        .put(
            "/entities/template/companies/by-key",
            json!({"external_key": "C-6", "attributes": {"name": "Six"}}),
        )
        .await
        .expect(201);
    let report = service.post(&format!("{path}/deliveries/replay"), json!({})).await.expect(200);
    assert_eq!(report, json!({"done": 1, "failed": 2, "next_cursor": null}));
}

#[tokio::test]
async fn endpoint_is_configured_and_its_secrets_are_shown_once() {
    let service = Service::start().await;
    let made = service.post("/inbound-endpoints", definition(true)).await;
    assert_eq!(made.header("location"), "/v1/inbound-endpoints/1");
    let made = made.expect(201);
    let sender = Sender::of(&made);
    assert!(sender.token.starts_with("in_") && sender.token.len() > 40, "{made}");
    assert!(sender.secret.starts_with("whsec_"), "{made}");
    let read = service.get("/inbound-endpoints/shop").await.expect(200);
    assert_eq!((&read["token"], &read["secret"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&read["mapping"], &read["signed"], &read["role"]),
        (&made["mapping"], &json!(true), &made["role"])
    );
    let listed = service.get("/inbound-endpoints").await.expect(200);
    assert_eq!(listed["endpoints"], json!([read]));
    service.post("/inbound-endpoints", definition(true)).await.expect_error(409, "conflict");

    // A definition that was read can be sent back; it changes only the time.
    let same = service.patch("/inbound-endpoints/1", read.clone()).await.expect(200);
    assert_eq!((&same["mapping"], &same["secret"]), (&read["mapping"], &Value::Null));
    service.deliver_signed(&sender, "a", TWO).await.expect(200);
    let moved = service.patch("/inbound-endpoints/1", json!({"template": "companies"})).await;
    assert_eq!(moved.expect_error(422, "invalid_value")["errors"][0]["pointer"], "/template");

    let rotated =
        service.patch("/inbound-endpoints/shop", json!({"rotate_secret": true, "rotate_token": true})).await;
    let new = Sender::of(&rotated.expect(200));
    assert_ne!((&new.token, &new.secret), (&sender.token, &sender.secret));
    service.deliver_signed(&sender, "b", TWO).await.expect_error(404, "not_found");
    service
        .deliver_signed(&Sender { secret: sender.secret.clone(), ..new.clone() }, "b", TWO)
        .await
        .expect_error(401, "unauthorized");
    service.deliver_signed(&new, "b", TWO).await.expect(200);

    // A secret that the sender chose.
    let theirs = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    service.patch("/inbound-endpoints/shop", json!({"secret": theirs})).await.expect(200);
    service.deliver_signed(&Sender { secret: theirs.to_owned(), ..new.clone() }, "c", TWO).await.expect(200);

    service.patch("/inbound-endpoints/shop", json!({"enabled": false})).await.expect(200);
    let disabled = service.deliver(&new, TWO).await;
    let unknown = service.deliver(&Sender { token: "in_nothing".to_owned(), ..new.clone() }, TWO).await;
    assert_eq!(
        disabled.expect_error(404, "not_found")["detail"],
        unknown.expect_error(404, "not_found")["detail"]
    );
    let open =
        service.patch("/inbound-endpoints/shop", json!({"enabled": true, "signed": false})).await.expect(200);
    assert_eq!((&open["signed"], &open["secret"]), (&json!(false), &Value::Null));
    service.deliver(&new, TWO).await.expect(200);
    assert_eq!(service.delete("/inbound-endpoints/shop").await.status, 204);
    service.deliver(&new, TWO).await.expect_error(404, "not_found");
    service.get("/inbound-endpoints/shop").await.expect_error(404, "not_found");
    let session = service.session().await;
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "0");
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "2", "delivered records stay");
}

#[tokio::test]
async fn invalid_delivery_is_rejected_and_not_stored() {
    let service = Service::start_with(&[("KEYED_BODY_LIMIT", "1000")]).await;
    let sender = endpoint(&service, false).await;
    let path = format!("/v1/inbound/{}", sender.token);
    let send = |content_type: &'static str, body: String| {
        service.proxy.request("POST", &path).without_key().body(content_type, body).send()
    };
    send("application/json", "{".to_owned()).await.expect_error(400, "malformed_request");
    send("application/json", "{} x".to_owned()).await.expect_error(400, "malformed_request");
    send("text/plain", "{}".to_owned()).await.expect_error(415, "unsupported_media_type");
    send("application/json", format!("\"{}\"", "x".repeat(1000)))
        .await
        .expect_error(413, "payload_too_large");
    let long = "x".repeat(256);
    service.deliver_with(&sender, &long, 0, "", "{}").await.expect_error(400, "malformed_request");
    let session = service.session().await;
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "0");
    // A delivery without items is processed.
    assert_eq!(
        send("application/json", "[]".to_owned()).await.expect(200),
        json!({"created": 0, "updated": 0})
    );
    assert!(!encode(&sender.token).contains('%'), "a token needs no encoding in a URL");
}
