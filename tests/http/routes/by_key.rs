//! PUT, GET and DELETE …/by-key, for callers that identify records by their own keys.

use harness::customers::{HISTORY, SERIES};
use harness::{Service, id_of};
use serde_json::{Value, json};

const PATH: &str = "/entities/template/customers/by-key";

#[tokio::test]
async fn upsert_returns_201_then_200_with_the_same_id() {
    let service = Service::start().await;
    let first = service.upsert("A-1", json!({"name": "Ada"})).await;
    let location = first.header("location").to_owned();
    let first = first.expect(201);
    assert_eq!(first, json!({"id": first["id"], "created": true}));
    assert_eq!(location, format!("/v1/entities/{}", id_of(&first)));
    for attributes in [json!({"name": "Ada"}), json!({"name": "Bea"}), json!({})] {
        let again = service.upsert(" A-1 ", attributes).await;
        assert_eq!(again.header("location"), "");
        assert_eq!(again.expect(200), json!({"id": first["id"], "created": false}));
    }
    let record = service.by_key("A-1").await.expect(200);
    assert_eq!((&record["id"], &record["attributes"]["name"]), (&first["id"], &json!("Bea")));
    assert_eq!(service.get(&format!("/entities/{}", id_of(&first))).await.expect(200), record);
}

#[tokio::test]
async fn upsert_returns_the_record_on_request() {
    let service = Service::start().await;
    for (status, created) in [(201, true), (200, false)] {
        let body = json!({"external_key": "A-1", "attributes": {"visits": {"$inc": 1}}});
        let response = service.put(&format!("{PATH}?return=record"), body).await.expect(status);
        assert_eq!(response["created"], created);
        assert_eq!(response["record"], service.by_key("A-1").await.expect(200));
    }
    let body = json!({"external_key": "A-1"});
    service.put(&format!("{PATH}?return=everything"), body).await.expect_error(422, "invalid_value");
}

#[tokio::test]
async fn mode_allows_one_branch_only() {
    let service = Service::start().await;
    let body = |name: &str| json!({"external_key": "A-1", "attributes": {"name": name}});
    let path = |mode: &str| format!("{PATH}?mode={mode}");
    service.put(&path("update"), body("Ada")).await.expect_error(404, "not_found");
    service.put(&path("create"), body("Ada")).await.expect(201);
    service.put(&path("create"), body("Bea")).await.expect_error(409, "external_key_taken");
    service.put(&path("update"), body("Cleo")).await.expect(200);
    service.put(&path("upsert"), body("Cleo")).await.expect(200);
    assert_eq!(service.by_key("A-1").await.expect(200)["attributes"]["name"], "Cleo");
    for mode in ["replace", "", "Create"] {
        service.put(&path(mode), body("x")).await.expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn upsert_without_attributes_changes_none() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada"})).await.expect(201);
    let before = service.by_key("A-1").await.expect(200);
    assert_eq!(service.put(PATH, json!({"external_key": "A-1"})).await.expect(200)["created"], false);
    assert_eq!(service.by_key("A-1").await.expect(200), before);
    assert_eq!(service.put(PATH, json!({"external_key": "A-2"})).await.expect(201)["created"], true);
}

#[tokio::test]
async fn upsert_without_a_change_leaves_no_trace() {
    let service = Service::start().await;
    let attributes = json!({"name": "Ada", "visits": 2, "tags": ["x"], "seen": "2024-02-29T12:00:00+01:00"});
    let id = service.upsert("A-1", attributes.clone()).await.expect(201)["id"].clone();
    let before = service.by_key("A-1").await.expect(200);
    service.upsert("A-1", attributes).await.expect(200);
    assert_eq!(service.by_key("A-1").await.expect(200), before);
    let history =
        service.get(&format!("/entities/{}/history", id.as_str().unwrap_or_default())).await.expect(200);
    assert_eq!(history["history"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn increments_and_points_apply_to_creates_and_updates() {
    let service = Service::start().await;
    for status in [201, 200, 200] {
        service.upsert("A-1", json!({"visits": {"$inc": 2}, "mood": 5})).await.expect(status);
    }
    let record = service.by_key("A-1").await.expect(200);
    assert_eq!(record["attributes"]["visits"], 6);
    let series = service.get(&format!("/entities/{}/metrics/mood", id_of(&record))).await.expect(200);
    assert_eq!(series["points"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn lookup_supports_fields_and_verbose() {
    let service = Service::start().await;
    let made =
        service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada", "tier": "gold"}})).await;
    for options in
        ["fields=name,created_at", "verbose=true", "fields=tier&verbose=true", "fields=", "verbose=false"]
    {
        let by_key = service.get(&format!("{PATH}?key=A-1&{options}")).await.expect(200);
        let by_id = service.get(&format!("/entities/{}?{options}", id_of(&made))).await.expect(200);
        assert_eq!(by_key, by_id, "{options}");
    }
    service.get(&format!("{PATH}?key=A-1&fields=nmae")).await.expect_error(422, "unknown_field");
    service.get(&format!("{PATH}?key=A-1&verbose=yes")).await.expect_error(422, "invalid_value");
}

#[tokio::test]
async fn lookup_without_exactly_one_key_is_malformed() {
    let service = Service::start().await;
    for query in ["", "?fields=name", "?key=a&key=b", "?key=a&Key=b", "?key=a&include_deleted=true"] {
        service.get(&format!("{PATH}{query}")).await.expect_error(400, "malformed_request");
        service.delete(&format!("{PATH}{query}")).await.expect_error(400, "malformed_request");
    }
}

#[tokio::test]
async fn record_can_be_deleted_by_its_key() {
    let service = Service::start().await;
    let made = service.create(json!({"external_key": "a/b c"})).await;
    let path = format!("{PATH}?key=a%2Fb%20c");
    let response = service.delete(&path).await;
    assert_eq!((response.status, response.text.as_str()), (204, ""));
    service.delete(&path).await.expect_error(404, "not_found");
    service.by_key("a/b c").await.expect_error(404, "not_found");
    let deleted = service.get(&format!("/entities/{}?include_deleted=true", id_of(&made))).await.expect(200);
    assert!(deleted["deleted_at"].is_string());
}

#[tokio::test]
async fn rejected_upsert_writes_nothing() {
    let service = Service::start().await;
    for (attributes, code) in [
        (json!({"name": 1}), "invalid_value"),
        (json!({"nmae": "x"}), "unknown_attribute"),
        (json!({"name": "x", "mood": 1, "company": {"external_key": "nobody"}}), "reference_not_found"),
        (json!([]), "invalid_value"),
        (json!("x"), "invalid_value"),
        (Value::Null, "invalid_value"),
    ] {
        service.upsert("A-1", attributes).await.expect_error(422, code);
    }
    let counts = &format!(
        "select (select count(*) from crm.customers) + (select count(*) from {HISTORY})
                  + (select count(*) from {SERIES})"
    );
    assert_eq!(service.session().await.text(counts, &[]).await, "0");
}

#[tokio::test]
async fn many_records_are_read_by_their_keys() {
    const MANY: &str = "/entities/template/customers/by-keys";
    let service = Service::start().await;
    for key in ["A-1", "value", "gone"] {
        service.upsert(key, json!({"name": "Ada", "visits": 1.5})).await.expect(201);
    }
    service.delete(&format!("{PATH}?key=gone")).await.expect(204);
    let body = json!({"keys": ["A-1", " A-1", "gone", "value", "none"]});
    let response = service.post(MANY, body.clone()).await.expect(200);
    let records = json!({"A-1": service.by_key("A-1").await.expect(200), "value": service.by_key("value").await.expect(200)});
    assert_eq!(response, json!({"records": records, "missing": ["gone", "none"]}));
    let response = service.post(&format!("{MANY}?numbers=string"), body).await.expect(200);
    assert_eq!(response["records"]["value"]["attributes"]["visits"], "1.5");
    let body = json!({"keys": ["A-1"], "fields": "name", "verbose": true});
    let record = &service.post(MANY, body).await.expect(200)["records"]["A-1"];
    assert_eq!((&record["attributes"], &record["updated_at"]), (&json!({"name": "Ada"}), &Value::Null));
    assert_eq!(record["attribute_values"]["name"]["type"], "string");

    let body = json!({"keys": ["A-1"], "fields": ["name"], "versions": true});
    let version = &service.post(MANY, body).await.expect(200)["records"]["A-1"]["version"];
    let operation = json!({"op": "upsert", "template": "customers", "external_key": "A-1", "attributes": {"visits": 2}, "if_match": version});
    let written =
        service.post("/entities/batch", json!({"operations": [operation.clone()]})).await.expect(200);
    assert_eq!(written["errors"], false, "{written}");
    let again = service.post("/entities/batch", json!({"operations": [operation]})).await.expect(200);
    assert_eq!(again["results"][0]["error"]["code"], "precondition_failed", "{again}");

    for (body, status, code, pointer) in [
        (json!({}), 422, "invalid_value", "/keys"),
        (json!({"keys": "A-1"}), 422, "invalid_value", "/keys"),
        (json!({"keys": []}), 422, "invalid_value", "/keys"),
        (json!({"keys": ["A-1", ""]}), 422, "invalid_external_key", "/keys/1"),
        (json!({"keys": ["A-1"], "limit": 5}), 422, "unknown_field", "/limit"),
        (json!({"keys": ["A-1"], "fields": ["nam"]}), 422, "unknown_field", "/fields/0"),
        (json!({"keys": vec!["A-1"; 1001]}), 413, "payload_too_large", "/keys"),
    ] {
        let rejected = service.post(MANY, body.clone()).await.expect_error(status, code);
        assert_eq!(rejected["errors"][0]["pointer"], pointer, "{body}");
    }
    service
        .post("/entities/template/nothing/by-keys", json!({"keys": ["A-1"]}))
        .await
        .expect_error(404, "not_found");
    service
        .post(&format!("{MANY}?fields=name"), json!({"keys": ["A-1"]}))
        .await
        .expect_error(400, "malformed_request");
}
