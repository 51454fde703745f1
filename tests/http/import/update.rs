//! Files that only change records.

use super::{attributes, counts, import, send};
use harness::Service;
use serde_json::json;

#[tokio::test]
async fn update_changes_records_and_rejects_rows_without_a_record() {
    let service = Service::start().await;
    service.upsert("a", json!({"name": "old"})).await.expect(201);
    let file = "external_key,name\na,new\nb,none\n";
    let problem = import(&service, "mode=update", file).await.expect_error(404, "not_found");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(
        detail.contains("line 3, column external_key: no record of crm.customers has the key \"b\""),
        "{problem}"
    );
    assert_eq!(
        (counts(&problem["report"]), attributes(&service, "a").await["name"].clone()),
        ([2, 0, 0, 0, 1], json!("old"))
    );

    let dry = import(&service, "mode=update&dry_run=true", file).await.expect(200);
    assert_eq!(counts(&dry), [2, 0, 1, 0, 1], "{dry}");
    let report = import(&service, "mode=update&on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [2, 0, 1, 0, 1], "{report}");
    assert_eq!(report["errors"][0]["column"], "external_key", "{report}");
    assert_eq!(attributes(&service, "a").await["name"], "new");
    assert_eq!(service.by_key("b").await.status, 404);

    let lines = "{\"external_key\":\"a\",\"attributes\":{\"name\":\"newer\"}}\n{\"attributes\":{\"name\":\"none\"}}\n";
    let report = send(&service, "application/x-ndjson", "customers", "mode=update&on_error=skip", lines)
        .await
        .expect(200);
    assert_eq!(counts(&report), [2, 0, 1, 0, 1], "{report}");
    for (mode, file) in [("create", "external_key\na\n"), ("", "external_key\na\n"), ("update", "name\na\n")]
    {
        import(&service, &format!("mode={mode}"), file).await.expect_error(422, "invalid_value");
    }
    let upsert = import(&service, "mode=upsert", file).await.expect(200);
    assert_eq!(counts(&upsert), [2, 1, 1, 0, 0], "{upsert}");
}
