//! Interruptions of imports that write each chunk in its own transaction.

use super::counts;
use harness::{Service, Wire, status_of};
use serde_json::{Value, json};
use std::time::Duration;

/// A running import of rows without keys that has written some of them.
async fn begun(service: &Service) -> Wire {
    let request = "POST /v1/entities/template/customers/import?on_error=skip";
    let headers = "Content-Type: text/csv\nTransfer-Encoding: chunked\nConnection: close";
    let mut wire = Wire::begin(&service.proxy, request, service.proxy.key(), headers).await;
    send(&mut wire, format!("name\n{}", "é\n".repeat(3000)).as_bytes()).await;
    service.session().await.until("select count(*) > 0 from crm.customers", "t").await;
    wire
}

/// A file that is imported in one transaction and locks the template.
async fn holder(service: &Service) -> Wire {
    let request = "POST /v1/entities/template/customers/import?on_error=abort";
    let headers = "Content-Type: text/csv\nTransfer-Encoding: chunked\nConnection: close";
    let mut wire = Wire::begin(&service.proxy, request, service.proxy.key(), headers).await;
    send(&mut wire, b"external_key,name\nA-1,Ada\n").await;
    let held = "select count(*) from pg_locks where locktype = 'advisory' and objsubid = 11 and granted";
    service.session().await.until(held, "1").await;
    wire
}

/// Sends a chunk of the file.
async fn send(wire: &mut Wire, bytes: &[u8]) {
    let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    wire.send(&chunk).await.expect("the proxy reads it");
}

/// The status and body of the response, after which the connection is closed.
async fn response(mut wire: Wire) -> (u16, String) {
    let mut response = wire.response().await;
    loop {
        match wire.response().await {
            more if more.is_empty() => break,
            more => response += &more,
        }
    }
    let (status, body) =
        (status_of(&response), response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()));
    (status, body.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partly_written_file_waits_for_a_connection() {
    let settings = [("KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY", "1"), ("KEYED_POOL_WAIT", "0.2")];
    let service = Service::start_with(&settings).await;
    let mut wire = begun(&service).await;
    let holder = service.session().await;
    holder.run("begin; lock table crm.companies in access exclusive mode").await;
    let search = service.proxy.request("POST", "/v1/entities/search/companies").json(&json!({}));
    let search = tokio::spawn(search.send());
    service.session().await.until_blocked(1).await;
    send(&mut wire, "é\n".repeat(3000).as_bytes()).await;
    wire.send(b"0\r\n\r\n").await.expect("the proxy reads it");
    // Longer than a request waits.
    tokio::time::sleep(Duration::from_secs(1)).await;
    holder.run("commit").await;
    search.await.expect("the request ends").expect(200);
    let (status, body) = response(wire).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(service.session().await.text("select count(*)::text from crm.customers", &[]).await, "6000");
}

#[tokio::test]
async fn failure_after_a_partial_import_is_not_retryable() {
    let service = Service::start().await;
    let mut wire = begun(&service).await;
    send(&mut wire, b"\xff\n").await;
    let (status, body) = response(wire).await;
    let written = service.session().await.text("select count(*)::text from crm.customers", &[]).await;
    let json = body.find('{').map(|start| &body[start..=body.rfind('}').unwrap_or(start)]);
    let problem: Value = serde_json::from_str(json.unwrap_or_default()).expect("a problem");
    assert_eq!((status, &problem["outcome"], &problem["retryable"]), (400, &json!("partial"), &json!(false)));
    assert_eq!(counts(&problem["report"])[1].to_string(), written, "{problem}");
    assert!(problem["hint"].as_str().is_some_and(|hint| hint.contains("remain")), "{problem}");
}

#[tokio::test]
async fn failure_before_any_write_has_no_outcome() {
    let service = Service::start().await;
    let problem = super::import(&service, "on_error=skip", b"name\n\xc3\xa9\n\xff\n".to_vec()).await;
    let problem = problem.expect_error(400, "malformed_request");
    assert_eq!(problem["outcome"], Value::Null, "{problem}");
    assert_eq!(service.session().await.text("select count(*)::text from crm.customers", &[]).await, "0");
}

#[tokio::test]
async fn administrator_cancels_the_import_that_blocks_another() {
    let service = Service::start().await;
    let role = service.database.create_role("clerk").await;
    service.database.grant(&role, "crm.customers", "read,create,update").await;
    let clerk = service.database.api_key(&role, &[]).await;
    let path = "/v1/entities/template/customers/import";
    service.proxy.request("DELETE", path).send().await.expect_error(404, "not_found");
    let mut first = holder(&service).await;
    let file = "external_key,name\nA-2,Grace\n";
    let headers = format!(
        "Content-Type: text/csv\nAccept: application/x-ndjson\nConnection: close\nContent-Length: {}",
        file.len()
    );
    let mut second =
        Wire::begin(&service.proxy, &format!("POST {path}?on_error=abort"), &clerk, &headers).await;
    second.send(file.as_bytes()).await.expect("the body fits into the buffers");
    let mut reported = second.response().await;
    while !reported.contains("\"waits_for\"") {
        reported += &second.response().await;
    }
    assert!(
        reported.contains("\"role\":\"keyed_admin\"") && reported.contains("\"since\":\"20"),
        "{reported}"
    );
    service.proxy.request("DELETE", path).key(&clerk).send().await.expect_error(403, "forbidden");
    let other = format!("{path}?transaction=1/1");
    service.proxy.request("DELETE", &other).send().await.expect_error(404, "not_found");
    let ended = service.proxy.request("DELETE", path).send().await.expect(200);
    assert_eq!(ended["role"], json!("keyed_admin"), "{ended}");
    while !reported.contains("\"created\":1") {
        let more = second.response().await;
        assert!(!more.is_empty(), "{reported}");
        reported += &more;
    }
    send(&mut first, "A-3,Alan\n".repeat(30_000).as_bytes()).await;
    let (status, body) = response(first).await;
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("nothing was imported"), "{body}");
    let keys = "select string_agg(external_key, ',') from crm.customers";
    assert_eq!(service.session().await.text(keys, &[]).await, "A-2");
}
