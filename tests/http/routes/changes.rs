//! GET /changes, and the holders of a key.

use harness::{Service, id_of};
use serde_json::json;

#[tokio::test]
async fn changes_are_read_after_a_cursor() {
    let service = Service::start().await;
    let start = service.get("/changes").await.expect(200);
    assert_eq!((&start["changes"], &start["has_more"]), (&json!([]), &json!(false)));
    let after = start["next_cursor"].as_str().expect("a cursor");
    let record =
        service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada", "visits": 1.10}})).await;
    let page = service.get(&format!("/changes?after={after}&limit=1&include=record")).await;
    let page = page.expect(200);
    let entry = &page["changes"][0];
    assert_eq!((&entry["id"], &entry["operation"]), (&record["id"], &json!("create")));
    assert_eq!((&entry["source"], &entry["record"]), (&json!("api"), &record));
    let of_template = service.get("/changes?template=companies&after=start").await.expect(200);
    assert_eq!(of_template["changes"], json!([]));
    let next = page["next_cursor"].as_str().expect("a cursor");
    service.delete(&format!("/entities/{}", id_of(&record))).await;
    let page = service.get(&format!("/changes?after={next}")).await.expect(200);
    assert_eq!(
        (&page["changes"][0]["operation"], &page["changes"][0]["previous_key"]),
        (&json!("delete"), &json!("A-1"))
    );
}

#[tokio::test]
async fn expired_and_forged_cursors_get_different_errors() {
    let service = Service::start().await;
    for (query, code) in [
        ("after=forged", "invalid_value"),
        ("limit=0", "invalid_value"),
        ("limit=x", "invalid_value"),
        ("include=all", "invalid_value"),
    ] {
        service.get(&format!("/changes?{query}")).await.expect_error(422, code);
    }
    service.get("/changes?template=none").await.expect_error(404, "not_found");
    let start = service.get("/changes").await.expect(200);
    let after = start["next_cursor"].as_str().expect("a cursor");
    // As in a restored database.
    service.session().await.run("update keyed_state.change_generation set written_by = 1").await;
    let error = service.get(&format!("/changes?after={after}")).await.expect_error(410, "resync_required");
    assert_eq!(error["retryable"], json!(false));
}

#[tokio::test]
async fn holders_of_a_key_are_listed() {
    let service = Service::start().await;
    let first = service.create(json!({"external_key": "erp/1", "attributes": {}})).await;
    service.delete(&format!("/entities/{}", id_of(&first))).await;
    let second = service.create(json!({"external_key": "erp/1", "attributes": {}})).await;
    let path = "/entities/template/customers/by-key/history";
    let holders = service.get(&format!("{path}?key=erp%2F1")).await.expect(200);
    let reported: Vec<_> = holders["holders"]
        .as_array()
        .expect("holders")
        .iter()
        .map(|it| json!([it["id"], it["ended_by"]]))
        .collect();
    assert_eq!(reported, [json!([second["id"], null]), json!([first["id"], "delete"])]);
    service.get(path).await.expect_error(400, "malformed_request");
    service.get(&format!("{path}?key=%20erp")).await.expect_error(422, "invalid_external_key");
}
