//! GET …/history.

use harness::{Service, id_of};
use serde_json::{Value, json};

#[tokio::test]
async fn history_names_key_source_and_changes() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada"}})).await;
    let path = format!("/entities/{}", id_of(&record));
    let patch = r#"{"external_key": "A-2", "attributes": {"visits": 1.10}}"#;
    service.send_text("PATCH", &path, patch).await.expect(200);
    service.session().await.run("update crm.customers set name = 'Bea'").await;
    service.delete(&path).await;
    service.post(&format!("{path}/restore"), json!({})).await.expect(200);
    let response = service.get(&format!("{path}/history")).await;
    assert!(response.text.contains("1.10"), "every digit is kept: {}", response.text);
    let response = response.expect(200);
    assert_eq!(response["next_cursor"], Value::Null);
    let entries = response["history"].as_array().expect("entries");
    let api = json!(["issued by a test (key 1)", "api"]);
    let story: Vec<Value> = entries
        .iter()
        .rev()
        .map(|it| {
            json!([
                it["version"],
                it["operation"],
                [it["actor"], it["source"]],
                it["external_key"],
                it["changes"]
            ])
        })
        .collect();
    assert_eq!(
        story,
        [
            json!([1, "create", api, "A-1", {"name": {"old": null, "new": "Ada"}}]),
            json!([2, "update", api, "A-2", {"external_key": {"old": "A-1", "new": "A-2"}, "visits": {"old": null, "new": 1.10}}]),
            json!([3, "update", ["postgres", "sql"], "A-2", {"name": {"old": "Ada", "new": "Bea"}}]),
            json!([4, "delete", api, "A-2", {}]),
            json!([5, "restore", api, "A-2", {}]),
        ]
    );
    let members: Vec<&str> =
        entries[0].as_object().into_iter().flatten().map(|member| member.0.as_str()).collect();
    assert_eq!(members.len(), 7, "{members:?}");
}

#[tokio::test]
async fn pages_of_history_are_stable() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1"})).await;
    for _ in 0..9 {
        service.upsert("A-1", json!({"visits": {"$inc": 1}})).await.expect(200);
    }
    let mut path = format!("/entities/{}/history?limit=4", id_of(&record));
    let mut versions = Vec::new();
    loop {
        let page = service.get(&path).await.expect(200);
        versions.extend(
            page["history"].as_array().into_iter().flatten().filter_map(|entry| entry["version"].as_i64()),
        );
        service.upsert("A-1", json!({"visits": {"$inc": 1}})).await.expect(200);
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/entities/{}/history?limit=4&cursor={}", id_of(&record), harness::encode(cursor));
    }
    assert_eq!(versions, (1..=10).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn invalid_limit_or_cursor_is_rejected() {
    let service = Service::start().await;
    let path = format!("/entities/{}/history", id_of(&service.create(json!({})).await));
    for query in [
        "limit=0",
        "limit=-1",
        "limit=1001",
        "limit=x",
        "limit=",
        "limit=1.5",
        "limit=99999999999",
        "cursor=x",
        "cursor=",
    ] {
        service.get(&format!("{path}?{query}")).await.expect_error(422, "invalid_value");
    }
    for query in ["page=1", "limit=1&limit=2", "offset=1"] {
        service.get(&format!("{path}?{query}")).await.expect_error(400, "malformed_request");
    }
    assert_eq!(
        service.get(&format!("{path}?limit=1000")).await.expect(200)["history"].as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test]
async fn history_of_an_unknown_record_is_not_found() {
    let service = Service::start().await;
    let unwritten = service.session().await.text("select keyed.new_id(2)", &[]).await;
    for id in [unwritten.as_str(), "x"] {
        service.get(&format!("/entities/{id}/history")).await.expect_error(404, "not_found");
        service.get(&format!("/entities/{id}/metrics/mood")).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn history_has_source_app_for_the_application() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1", "attributes": {"visits": 1}})).await;
    let path = format!("/entities/{}", id_of(&record));
    let from = |source: &'static str, method: &'static str, path: &str| {
        service.proxy.request(method, &format!("/v1{path}")).header("x-keyed-source", source)
    };
    let patch = |visits: i32| json!({"attributes": {"visits": visits}});
    from("app", "PATCH", &path).json(&patch(2)).send().await.expect(200);
    // The same with an Idempotency-Key, and a replay from another source, which changes nothing.
    for source in ["app", "api"] {
        let request = from(source, "PATCH", &path).header("idempotency-key", "once");
        request.json(&patch(3)).send().await.expect(200);
    }
    from("api", "PATCH", &path).json(&patch(4)).send().await.expect(200);
    let upsert =
        json!({"op": "upsert", "template": "customers", "external_key": "A-1", "attributes": {"visits": 5}});
    from("app", "POST", "/entities/batch").json(&json!({"operations": [upsert]})).send().await.expect(200);
    let csv = from("app", "POST", "/entities/template/customers/import");
    csv.body("text/csv", "external_key,visits\nA-1,6\n").send().await.expect(200);
    from("app", "GET", &path).send().await.expect(200);
    let history = service.get(&format!("{path}/history")).await.expect(200);
    let sources: Vec<&Value> =
        history["history"].as_array().expect("entries").iter().rev().map(|it| &it["source"]).collect();
    assert_eq!(sources, ["api", "app", "app", "api", "app", "csv"]);
}

#[tokio::test]
async fn unsupported_source_header_is_rejected() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1"})).await;
    let path = format!("/entities/{}", id_of(&record));
    for source in ["sql", "csv", "inbound", "App", "app'", "app', 'x"] {
        let request = service.proxy.request("DELETE", &format!("/v1{path}")).header("x-keyed-source", source);
        request.send().await.expect_error(400, "malformed_request");
    }
    let twice = service.proxy.request("DELETE", &format!("/v1{path}")).header("x-keyed-source", "app");
    twice.header("x-keyed-source", "api").send().await.expect_error(400, "malformed_request");
    service.get(&path).await.expect(200);
}
