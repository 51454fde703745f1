//! Saved views over HTTP.

use harness::Service;
use serde_json::json;

#[tokio::test]
async fn view_is_saved_read_replaced_and_deleted() {
    let service = Service::start().await;
    service.upsert("A", json!({"visits": 1})).await.expect(201);
    service.upsert("B", json!({"visits": 2})).await.expect(201);
    let filter = |least| json!({"filters": [{"field": "visits", "operator": "gte", "value": least}]});
    let path = "/templates/customers/views";
    let body = json!({"slug": "busy", "label": "Busy ones", "query": filter(2)});
    let made = service.post(path, body.clone()).await;
    let location = made.header("location").to_owned();
    let made = made.expect(201);
    assert_eq!(location, "/v1/templates/2/views/busy");
    assert_eq!((&made["label"], &made["query"]), (&json!("Busy ones"), &filter(2)));
    assert_eq!(made["sql_view"], "crm.customers__busy");
    assert_eq!(service.get(location.trim_start_matches("/v1")).await.expect(200), made);
    service.post(path, body).await.expect_error(409, "conflict");

    let found = service.post("/entities/search/customers", json!({"view": "busy"})).await.expect(200);
    assert_eq!(found["records"].as_array().map(Vec::len), Some(1));

    // A definition that was read can be sent back.
    let mut changed = made;
    changed["query"] = filter(1);
    let changed = service.put(&format!("{path}/busy"), changed).await.expect(200);
    assert_eq!(changed["query"], filter(1));
    let found = service.post("/entities/search/customers", json!({"view": "busy"})).await.expect(200);
    assert_eq!(found["records"].as_array().map(Vec::len), Some(2));

    service.put(&format!("{path}/all"), json!({"query": {}})).await.expect(201);
    let listed = service.get(path).await.expect(200);
    let slugs: Vec<_> = listed["views"].as_array().expect("views").iter().map(|view| &view["slug"]).collect();
    assert_eq!(slugs, ["all", "busy"]);
    assert_eq!(service.delete(&format!("{path}/busy")).await.status, 204);
    service.delete(&format!("{path}/busy")).await.expect_error(404, "not_found");
    service.get(&format!("{path}/busy")).await.expect_error(404, "not_found");
    let problem = service.post("/entities/search/customers", json!({"view": "busy"})).await;
    assert_eq!(problem.expect_error(422, "invalid_value")["errors"][0]["pointer"], "/view");
}

#[tokio::test]
async fn view_keeps_presentation_unless_given() {
    let service = Service::start().await;
    let path = "/templates/customers/views/bi";
    let made = service.put(path, json!({"query": {}, "presentation": true})).await.expect(201);
    assert_eq!((&made["presentation"], &made["sql_view"]), (&json!(true), &json!("crm.customers__bi")));
    let changed = service.put(path, json!({"query": {}, "label": "For BI"})).await.expect(200);
    assert_eq!(changed["presentation"], true);
    let changed = service.put(path, json!({"query": {}, "presentation": false})).await.expect(200);
    assert!(changed["presentation"].is_null(), "{changed}");
    let problem = service.put(path, json!({"query": {}, "presentation": "yes"})).await;
    assert_eq!(problem.expect_error(422, "invalid_value")["errors"][0]["pointer"], "/presentation");
}

#[tokio::test]
async fn invalid_view_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    for (body, pointer) in [
        (json!({"query": {}}), "/slug"),
        (json!({"slug": "x"}), "/query"),
        (json!({"slug": "x", "query": []}), "/query"),
        (json!({"slug": "x", "query": {}, "filters": []}), "/filters"),
        (json!({"slug": "x", "query": {"filter": []}}), "/query/filter"),
        (json!({"slug": 1, "query": {}}), "/slug"),
    ] {
        let problem = service.post("/templates/customers/views", body.clone()).await;
        assert_eq!(problem.status, 422, "{body}");
        assert_eq!(problem.body["errors"][0]["pointer"], pointer, "{body}");
    }
    let renamed = service.put("/templates/customers/views/x", json!({"slug": "y", "query": {}})).await;
    assert_eq!(renamed.expect_error(422, "invalid_value")["errors"][0]["pointer"], "/slug");
    service.get("/templates/nothing/views").await.expect_error(404, "not_found");
}
