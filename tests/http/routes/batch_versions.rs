//! Versions in POST /entities/batch: as preconditions of operations, and in results.

use super::batch::{batch, upsert};
use harness::{Service, id_of};
use serde_json::{Value, json};

const PATH: &str = "/entities/batch";

/// The ETag of the record with this key, without quotes.
async fn version(service: &Service, key: &str) -> String {
    service.by_key(key).await.header("etag").trim_matches('"').to_owned()
}

fn with_version(mut operation: Value, version: &str) -> Value {
    operation["if_match"] = json!(version);
    operation
}

#[tokio::test]
async fn operation_with_the_version_of_its_record_is_written() {
    let service = Service::start().await;
    let (mut ids, mut versions) = (Vec::new(), Vec::new());
    for key in ["a", "b", "c", "d", "e"] {
        let record = service.create(json!({"external_key": key, "attributes": {"visits": 1}})).await;
        ids.push(id_of(&record).to_owned());
        versions.push(version(&service, key).await);
    }
    let operations = json!([
        {"op": "update", "template": "customers", "external_key": "a", "attributes": {"visits": 2}, "if_match": versions[0]},
        {"op": "update", "id": ids[1], "attributes": {"visits": 2}, "if_match": format!("\"{}\"", versions[1])},
        with_version(upsert("c", json!({"visits": 2})), &versions[2]),
        {"op": "delete", "template": "customers", "external_key": "d", "if_match": versions[3]},
        {"op": "delete", "id": ids[4], "if_match": "*"},
    ]);
    let again = operations.clone();
    let report = batch(&service, true, operations).await.expect(200);
    assert_eq!(report["errors"], false, "{report}");
    for (index, key) in ["a", "b", "c"].into_iter().enumerate() {
        assert_eq!(report["results"][index]["version"], version(&service, key).await, "{report}");
    }
    assert_eq!(report["results"][3].get("version"), None, "{report}");

    // The versions from before the batch.
    let report = batch(&service, false, again).await.expect(200);
    let results = report["results"].as_array().expect("results");
    let statuses: Vec<&Value> = results.iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, [412, 412, 412, 404, 404], "{report}");
    for (index, result) in results.iter().enumerate().take(3) {
        assert_eq!(result["error"]["code"], "precondition_failed");
        assert_eq!(result["error"]["errors"][0]["pointer"], format!("/operations/{index}/if_match"));
        assert_eq!((result.get("version"), &result["id"]), (None, &Value::Null));
    }
}

#[tokio::test]
async fn other_version_rejects_one_operation_or_the_atomic_batch() {
    let service = Service::start().await;
    service.upsert("a", json!({"visits": 1})).await.expect(201);
    let outdated = version(&service, "a").await;
    service.upsert("a", json!({"visits": 2})).await.expect(200);
    let operations = json!([
        upsert("b", json!({"name": "b"})),
        with_version(upsert("a", json!({"visits": 3})), &outdated),
        upsert("c", json!({"name": "c"})),
    ]);
    let rejected = batch(&service, true, operations.clone()).await.expect_error(412, "precondition_failed");
    assert_eq!(rejected["failed_index"], 1);
    assert_eq!(rejected["errors"][0]["pointer"], "/operations/1/if_match");
    service.by_key("b").await.expect_error(404, "not_found");

    let report = batch(&service, false, operations).await.expect(200);
    let statuses: Vec<&Value> =
        report["results"].as_array().expect("results").iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [201, 412, 201]);
    assert_eq!(service.by_key("a").await.expect(200)["attributes"]["visits"], 2);
    // An upsert with a version creates nothing.
    let report =
        batch(&service, false, json!([with_version(upsert("new", json!({})), "*")])).await.expect(200);
    assert_eq!(report["results"][0]["status"], 412);
    service.by_key("new").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn version_is_compared_after_earlier_operations_on_the_record() {
    let service = Service::start().await;
    service.upsert("a", json!({"visits": 1})).await.expect(201);
    let current = version(&service, "a").await;
    let operations = json!([
        with_version(upsert("a", json!({"visits": 2})), &current),
        with_version(upsert("a", json!({"visits": 3})), &current),
        upsert("a", json!({"visits": {"$inc": 10}})),
    ]);
    let report =
        service.post(&format!("{PATH}?versions=1"), json!({"operations": operations})).await.expect(200);
    let statuses: Vec<&Value> =
        report["results"].as_array().expect("results").iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [200, 412, 200]);
    assert_eq!(service.by_key("a").await.expect(200)["attributes"]["visits"], 12);
    // Both results have the final version.
    let last = version(&service, "a").await;
    assert_eq!(
        (&report["results"][0]["version"], &report["results"][2]["version"]),
        (&json!(last), &json!(last))
    );
}

#[tokio::test]
async fn results_have_versions_and_records_only_on_request() {
    let service = Service::start().await;
    let body = json!({"operations": [
        upsert("a", json!({"visits": {"$inc": 1}, "tags": ["x"]})),
        upsert("b", json!({"name": "b"})),
        upsert("b", json!({"name": "b"})),
        {"op": "upsert", "template": "companies", "external_key": "ACME", "attributes": {"name": "ACME"}},
        {"op": "update", "template": "customers", "external_key": "nothing"},
        upsert("gone", json!({})),
        {"op": "delete", "template": "customers", "external_key": "gone"},
    ]});
    let members = |result: &Value| {
        let names = result.as_object().expect("a result").keys().map(String::as_str);
        names.filter(|name| ["version", "record"].contains(name)).collect::<Vec<_>>().join(",")
    };
    for (query, expected) in [
        ("", ["", "", "", "", "", "", ""]),
        ("?versions=false", ["", "", "", "", "", "", ""]),
        ("?versions=true", ["version", "version", "version", "version", "", "", ""]),
        (
            "?return=record",
            ["record,version", "record,version", "record,version", "record,version", "", "", ""],
        ),
    ] {
        let report = service.post(&format!("{PATH}{query}"), body.clone()).await.expect(200);
        let results = report["results"].as_array().expect("results");
        let shown: Vec<String> = results.iter().map(members).collect();
        assert_eq!(shown, expected, "{query}: {report}");
        for (index, key) in [(0, "a"), (1, "b"), (2, "b")] {
            let read = service.by_key(key).await;
            let tag = read.header("etag").trim_matches('"').to_owned();
            if !expected[index].is_empty() {
                assert_eq!(results[index]["version"], tag, "{query}");
            }
            if query == "?return=record" {
                assert_eq!(results[index]["record"], read.expect(200));
            }
        }
    }
    let numbers = service.post(&format!("{PATH}?return=record&numbers=string"), body).await.expect(200);
    assert_eq!(numbers["results"][0]["record"]["attributes"]["visits"], "5");
    for query in ["return=everything", "versions=maybe"] {
        service
            .post(&format!("{PATH}?{query}"), json!({"operations": []}))
            .await
            .expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn invalid_if_match_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    for (operation, version) in [
        ("update", json!(null)),
        ("update", json!(7)),
        ("update", json!("")),
        ("upsert", json!("a b")),
        ("delete", json!("\"a")),
        ("create", json!("*")),
    ] {
        let operation =
            json!({"op": operation, "template": "customers", "external_key": "K", "if_match": version});
        let report = batch(&service, false, json!([operation])).await.expect(200);
        let result = &report["results"][0];
        assert_eq!(
            (&result["status"], &result["error"]["code"]),
            (&json!(422), &json!("invalid_value")),
            "{report}"
        );
        assert_eq!(result["error"]["errors"][0]["pointer"], "/operations/0/if_match", "{report}");
    }
}
