//! Numbers as strings, for clients that would lose digits.

use harness::{Response, Service};
use serde_json::{Value, json};

/// A double cannot represent these digits.
const EXACT: &str = "12345678901234567890.05";
const BY_KEY: &str = "/entities/template/customers/by-key";

async fn send(service: &Service, method: &str, path: &str, body: Value) -> Response {
    service.proxy.request(method, &format!("/v1{path}")).json(&body).send().await
}

async fn upsert(service: &Service, query: &str, attributes: Value) -> Response {
    let body = json!({"external_key": "A-1", "attributes": attributes});
    send(service, "PUT", &format!("{BY_KEY}?{query}"), body).await
}

#[tokio::test]
async fn number_string_round_trips_without_a_change() {
    let service = Service::start().await;
    upsert(&service, "numbers=string", json!({"name": "12", "visits": EXACT, "mood": "1.5"}))
        .await
        .expect(201);
    let read = service.get(&format!("{BY_KEY}?key=A-1&numbers=string")).await;
    let version = read.header("etag").to_owned();
    let record = read.expect(200);
    let attributes = record["attributes"].clone();
    assert_eq!((&attributes["visits"], &attributes["mood"]), (&json!(EXACT), &json!("1.5")));
    assert_eq!((&attributes["name"], &attributes["active"]), (&json!("12"), &Value::Null));
    let plain = service.get(&format!("{BY_KEY}?key=A-1")).await;
    assert!(plain.text.contains(&format!("\"visits\":{EXACT},\"mood\":1.5")), "{}", plain.text);
    assert_eq!(plain.header("etag"), version);

    let path = format!("/entities/{}?numbers=string", record["id"].as_str().expect("an id"));
    for method in ["PATCH", "PUT"] {
        let body = if method == "PUT" { attributes.clone() } else { json!({"attributes": attributes}) };
        let written = send(&service, method, &path, body).await;
        assert_eq!(written.header("etag"), version, "{method}");
        assert_eq!(written.expect(200)["attributes"], attributes, "{method}");
    }
    let series = service.get(&path.replace('?', "/metrics/mood?")).await.expect(200);
    assert_eq!(series["points"][0]["value"], "1.5", "{series}");
}

#[tokio::test]
async fn numbers_are_strings_only_on_request() {
    let service = Service::start().await;
    for (query, attributes) in [
        ("", json!({"visits": "1"})),
        ("", json!({"mood": "1"})),
        ("numbers=string", json!({"visits": "1,5"})),
        ("numbers=string", json!({"visits": "01"})),
        ("numbers=string", json!({"visits": ""})),
        ("numbers=string", json!({"mood": "NaN"})),
    ] {
        upsert(&service, query, attributes).await.expect_error(422, "invalid_value");
    }
    upsert(&service, "numbers=text", json!({})).await.expect_error(422, "invalid_value");
    upsert(&service, "numbers=string&numbers=string", json!({})).await.expect_error(400, "malformed_request");
    let increments =
        json!({"visits": {"$inc": "0.1"}, "mood": [{"value": "2", "at": "2026-01-01T00:00:00Z"}, 3]});
    upsert(&service, "numbers=string", json!({"visits": 1})).await.expect(201);
    upsert(&service, "numbers=string", increments).await.expect(200);
    let record = service.get(&format!("{BY_KEY}?key=A-1")).await;
    assert!(record.text.contains("\"visits\":1.1,\"mood\":3"), "{}", record.text);
}

#[tokio::test]
async fn all_responses_support_numbers_as_strings() {
    let service = Service::start().await;
    let operation = json!({"op": "upsert", "template": "customers", "external_key": "A-1", "attributes": {"visits": EXACT}});
    let batch =
        service.post("/entities/batch?numbers=string", json!({"operations": [operation]})).await.expect(200);
    assert_eq!(batch["results"][0]["status"], 201, "{batch}");
    let search = json!({"facets": ["visits"], "count": "exact", "filters": [{"field": "visits", "operator": "eq", "value": EXACT}]});
    let found = service.post("/entities/search/customers?numbers=string", search).await.expect(200);
    assert_eq!(found["records"][0]["attributes"]["visits"], EXACT);
    assert_eq!(
        (&found["facets"]["visits"][0], &found["total"]),
        (&json!({"value": EXACT, "count": 1}), &json!(1))
    );
    let id = found["records"][0]["id"].as_str().expect("an id");
    let history = service.get(&format!("/entities/{id}/history?numbers=string")).await;
    assert!(history.text.contains(&format!("\"{EXACT}\"")), "{}", history.text);
    for packing in ["identity", "gzip"] {
        let request = service
            .proxy
            .request("GET", "/v1/entities/template/customers/export?format=ndjson&numbers=string");
        let response = request.header("accept-encoding", packing).send().await;
        if packing == "identity" {
            assert!(response.text.contains(&format!("\"visits\":\"{EXACT}\"")), "{}", response.text);
            let path = "/v1/entities/template/customers/import?numbers=string";
            let import =
                service.proxy.request("POST", path).body("application/x-ndjson", response.text).send().await;
            assert_eq!(import.expect(200)["unchanged"], 1);
        } else {
            assert_eq!(response.header("content-encoding"), "gzip");
        }
    }
}
