//! Imports that delete the records missing in the file: `mode=mirror`.

use super::{counts, import, send};
use harness::{Service, Wire, encode, status_of};
use serde_json::{Value, json};

async fn service(keys: &[(&str, u64)]) -> Service {
    let service = Service::start().await;
    for (key, visits) in keys {
        service.upsert(key, json!({"visits": visits})).await.expect(201);
    }
    service
}

/// The keys of all live customers.
async fn keys(service: &Service) -> String {
    let sql = "select string_agg(external_key, ' ' order by external_key) from crm.customers where deleted_at is null";
    service.session().await.text(sql, &[]).await
}

#[tokio::test]
async fn mirror_dry_run_reports_the_records_to_delete() {
    let service = service(&[("a", 1), ("b", 2), ("c", 3), ("d", 9)]).await;
    let filter = encode(r#"{"filters":[{"field":"visits","operator":"lt","value":5}]}"#);
    let query = format!("mode=mirror&filter={filter}");
    let file = "external_key,visits\na,2\nn,1\n";
    let dry = import(&service, &format!("{query}&dry_run=true"), file).await.expect(200);
    assert_eq!((counts(&dry), &dry["deleted"]), ([2, 1, 1, 0, 0], &json!(2)), "{dry}");
    let deletion = json!({"matching": 3, "share": 2.0 / 3.0, "keys": ["b", "c"]});
    assert_eq!((&dry["deletion"], &dry["warnings"]), (&deletion, &Value::Null), "{dry}");
    let doubtful =
        import(&service, &format!("{query}&dry_run=true&max_deleted_share=0.5"), file).await.expect(200);
    assert_eq!(
        (&doubtful["deleted"], &doubtful["warnings"][0]["code"]),
        (&json!(2), &json!("max_deleted_share"))
    );
    assert_eq!(keys(&service).await, "a b c d");

    import(&service, &query, file).await.expect_error(422, "invalid_value");
    let problem = import(&service, &format!("{query}&max_deleted_share=0.5"), file).await;
    let problem = problem.expect_error(412, "precondition_failed");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(
        detail.contains("delete 2 of 3 records") && detail.contains("max_deleted_share=0.5"),
        "{problem}"
    );
    assert_eq!((counts(&problem["report"]), keys(&service).await.as_str()), ([2, 0, 0, 0, 0], "a b c d"));

    let query = format!("{query}&max_deleted_share=0.7");
    let report = import(&service, &query, file).await.expect(200);
    assert_eq!((&report["deleted"], &report["deletion"]), (&json!(2), &deletion), "{report}");
    assert_eq!(keys(&service).await, "a d n");
    let again = import(&service, &query, file).await.expect(200);
    assert_eq!((counts(&again), &again["deleted"]), ([2, 0, 0, 2, 0], &json!(0)), "{again}");
    // Other modes delete nothing, and reject these options.
    let upsert = import(&service, "", file).await.expect(200);
    assert_eq!((&upsert["deleted"], &upsert["deletion"]), (&Value::Null, &Value::Null));
    import(&service, "max_deleted_share=0.1", file).await.expect_error(422, "invalid_value");
    import(&service, &format!("mode=update&filter={filter}"), file).await.expect_error(422, "invalid_value");
}

#[tokio::test]
async fn mirror_deletes_nothing_unless_the_whole_file_is_imported() {
    let service = service(&[("a", 1), ("b", 2)]).await;
    let query = "mode=mirror&max_deleted_share=1";
    let problem =
        import(&service, query, "external_key,visits\na,1\nn,x\n").await.expect_error(422, "invalid_value");
    assert!(problem["hint"].as_str().is_some_and(|hint| hint.contains("whole file")), "{problem}");
    for empty in ["external_key,visits\n", "external_key,visits\n,\n\n"] {
        let problem = import(&service, query, empty).await.expect_error(422, "invalid_value");
        assert!(
            problem["detail"].as_str().is_some_and(|it| it.contains("the file has no rows")),
            "{problem}"
        );
    }
    import(&service, &format!("{query}&dry_run=true"), "external_key\n")
        .await
        .expect_error(422, "invalid_value");
    send(&service, "application/json", "customers", query, "[]").await.expect_error(422, "invalid_value");
    // Files that end too early.
    send(&service, "application/json", "customers", query, r#"[{"external_key": "a"},"#)
        .await
        .expect_error(400, "malformed_request");
    import(&service, query, "external_key,name\na,\"Ada\n").await.expect_error(422, "invalid_csv");
    send(&service, "application/x-ndjson", "customers", query, "{\"external_key\":\"a\"}\n{\"external")
        .await
        .expect_error(400, "malformed_request");
    import(&service, &format!("{query}&on_error=skip"), "external_key\na\n")
        .await
        .expect_error(422, "invalid_value");
    let path = format!("/v1/entities/template/customers/import?{query}");
    let csv = service
        .proxy
        .request("POST", &path)
        .header("accept", "text/csv")
        .body("text/csv", "external_key\na\n");
    csv.send().await.expect_error(422, "invalid_value");
    assert_eq!(keys(&service).await, "a b");
    // A dry run with rejected rows cannot report which records would be deleted.
    let dry = import(&service, &format!("{query}&dry_run=true"), "external_key,visits\na,1\nn,x\n")
        .await
        .expect(200);
    assert_eq!((counts(&dry), &dry["deleted"]), ([2, 0, 0, 1, 1], &Value::Null), "{dry}");
}

#[tokio::test]
async fn mirror_deletes_nothing_if_its_client_disconnects() {
    let service = service(&[("a", 1), ("b", 2)]).await;
    let request = "POST /v1/entities/template/customers/import?mode=mirror&max_deleted_share=1";
    let headers = "Content-Type: text/csv\nContent-Length: 1000\nConnection: close";
    let mut wire = Wire::begin(&service.proxy, request, service.proxy.key(), headers).await;
    wire.send(b"external_key,visits\na,7\n").await.expect("the proxy reads it");
    let session = service.session().await;
    let imports = "select count(*) from pg_locks where locktype = 'advisory' and objsubid = 11 and granted";
    session.until(imports, "1").await;
    drop(wire);
    session.until(imports, "0").await;
    assert_eq!(keys(&service).await, "a b");
    let report = import(&service, "mode=mirror&max_deleted_share=1", "external_key\na\n").await.expect(200);
    assert_eq!(report["deleted"], 1, "{report}");
}

#[tokio::test]
async fn mirror_keeps_records_of_rows_that_wait_for_others() {
    let service = Service::start().await;
    let session = service.session().await;
    session
        .run(
            "select keyed.create_template('crm', 'staff', '[{\"slug\": \"name\", \"type\": \"string\"}]');
             select keyed.add_attribute('crm.staff', '{\"slug\": \"boss\", \"type\": \"reference\", \"template\": \"staff\"}');
             select keyed.upsert_by_key('crm.staff', 'k' || g, '{\"name\": \"old\"}') from generate_series(1, 20) g;
             select keyed.upsert_by_key('crm.staff', 'gone', '{\"name\": \"old\"}')",
        )
        .await;
    // Each row references an existing record or one that a later row creates, over several chunks.
    let rows: String = (1..=9000).map(|row| format!("k{row},k{}\n", row % 9000 + 1)).collect();
    let file = format!("external_key,boss\n{rows}");
    let query = "mode=mirror&max_deleted_share=0.1";
    let report = send(&service, "text/csv", "staff", query, file.clone()).await.expect(200);
    assert_eq!(
        (counts(&report), &report["deletion"]["keys"]),
        ([9000, 8980, 20, 0, 0], &json!(["gone"])),
        "{report}"
    );
    let again = send(&service, "text/csv", "staff", query, file).await.expect(200);
    assert_eq!((counts(&again), &again["deleted"]), ([9000, 0, 0, 9000, 0], &json!(0)), "{again}");
}

#[tokio::test]
async fn progress_of_a_mirror_counts_deleted_records() {
    let service = Service::start().await;
    let session = service.session().await;
    session
        .run("insert into crm.customers (external_key) select 'k' || g from generate_series(1, 5000) g")
        .await;
    let file = "external_key\nk1\n";
    let request = "POST /v1/entities/template/customers/import?mode=mirror&max_deleted_share=1";
    let headers = format!(
        "Content-Type: text/csv\nAccept: application/x-ndjson\nConnection: close\nContent-Length: {}",
        file.len()
    );
    let mut wire = Wire::begin(&service.proxy, request, service.proxy.key(), &headers).await;
    wire.send(file.as_bytes()).await.expect("the proxy reads it");
    let mut response = String::new();
    loop {
        match wire.response().await {
            more if more.is_empty() => break,
            more => response += &more,
        }
    }
    assert_eq!(status_of(&response), 200, "{response}");
    assert!(
        response.contains("\"deleted\":2000,\"bytes\":")
            && response.contains("\"deleted\":4999,\"deletion\""),
        "{response}"
    );
}
