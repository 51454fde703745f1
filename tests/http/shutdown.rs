//! Shutdown: new callers are rejected, and running requests finish.

use harness::{Service, Session, Wire, status_of, until};
use serde_json::{Value, json};

/// A drain time that no test reaches.
const LONG: (&str, &str) = ("KEYED_DRAIN", "600");

async fn until_draining(service: &Service) {
    until("the service drains", async || service.proxy.request("GET", "/readyz").send().await.status == 503)
        .await;
}

#[tokio::test]
async fn draining_serves_requests_and_closes_connections() {
    let service = Service::start_with(&[LONG]).await;
    let mut idle = Wire::begin(&service.proxy, "GET /v1/me", service.proxy.key(), "").await;
    let before = idle.response().await;
    assert_eq!(status_of(&before), 200);
    assert!(!before.contains("connection: close"), "{before}");
    service.proxy.request_shutdown();
    until_draining(&service).await;
    let problem = service.proxy.request("GET", "/readyz").send().await.expect_error(503, "unavailable");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("is stopping")), "{problem}");
    // The connection that was idle is still open.
    idle.ask("GET /v1/me", service.proxy.key(), "").await.expect("the connection is open");
    let response = idle.response().await;
    assert_eq!(status_of(&response), 200);
    assert!(response.contains("connection: close"), "{response}");
    assert_eq!(idle.response().await, "", "and closed after the answer");
    // New connections are accepted as well.
    let response = service.upsert("K-1", json!({"name": "Ada"})).await;
    assert_eq!(response.header("connection"), "close");
    response.expect(201);
    let Service { mut proxy, database: _database } = service;
    proxy.request_shutdown();
    assert!(proxy.ended().await.success(), "a second signal cuts the drain short");
}

#[tokio::test]
async fn sigint_ends_without_a_drain() {
    let Service { mut proxy, database: _database } = Service::start_with(&[LONG]).await;
    proxy.signal("INT");
    assert!(proxy.ended().await.success());
}

/// Rows of customers wait in a trigger while the returned session is open.
async fn waiting_rows(service: &Service) -> Session {
    let holder = service.session().await;
    holder.run("create function crm.wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
                create trigger zz_wait before insert or update on crm.customers for each row execute function crm.wait();
                select pg_advisory_lock(1)").await;
    holder
}

#[tokio::test]
async fn import_beyond_the_shutdown_limit_is_rolled_back() {
    for (query, hint, outcome) in [
        ("", "Nothing was imported", Value::Null),
        ("?on_error=skip", "Written rows remain", json!("partial")),
    ] {
        let service = Service::start_with(&[("KEYED_SHUTDOWN_TIMEOUT", "0.2")]).await;
        service.upsert("K-1", json!({"name": "Ada"})).await.expect(201);
        let holder = waiting_rows(&service).await;
        let path = format!("/v1/entities/template/customers/import{query}");
        let import = service.proxy.request("POST", &path).body("text/csv", "external_key,name\nK-1,Bea\n");
        let import = tokio::spawn(import.send());
        holder.until_blocked(1).await;
        let Service { mut proxy, database } = service;
        proxy.request_shutdown();
        let problem = import.await.expect("the request ends").expect_error(503, "unavailable");
        assert!(problem["hint"].as_str().is_some_and(|words| words.contains(hint)), "{problem}");
        assert_eq!((&problem["outcome"], &problem["retryable"]), (&outcome, &json!(outcome.is_null())));
        assert!(proxy.ended().await.success());
        let session = database.session().await;
        session.until("select count(*) from pg_locks where relation = 'crm.customers'::regclass", "0").await;
        drop(holder);
        assert_eq!(session.text("select name from crm.customers", &[]).await, "Ada");
    }
}

/// A response that has started can report an error only at its end.
#[tokio::test]
async fn streamed_import_ends_with_the_problem() {
    let service = Service::start_with(&[("KEYED_SHUTDOWN_TIMEOUT", "0.2")]).await;
    let holder = waiting_rows(&service).await;
    let request = service.proxy.request("POST", "/v1/entities/template/customers/import");
    let request =
        request.header("accept", "application/x-ndjson").body("text/csv", "external_key,name\nK-1,Bea\n");
    let response = request.response().await;
    assert_eq!(response.status().as_u16(), 200);
    holder.until_blocked(1).await;
    let Service { mut proxy, database: _database } = service;
    proxy.request_shutdown();
    let text = response.text().await.expect("it ends");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains("the service stopped before the end of the file"), "{text}");
    assert!(proxy.ended().await.success());
}

#[tokio::test]
async fn export_beyond_the_shutdown_limit_is_visibly_incomplete() {
    let service = Service::start_with(&[("KEYED_SHUTDOWN_TIMEOUT", "0.2")]).await;
    let rows = "insert into crm.customers (name) select repeat('x', 1000) from generate_series(1, 20000)";
    service.session().await.run(rows).await;
    // More than the buffers of the connection hold. For now, nothing is read.
    let response = service.proxy.request("GET", "/v1/entities/template/customers/export").response().await;
    assert_eq!(response.status().as_u16(), 200);
    let Service { mut proxy, database: _database } = service;
    proxy.request_shutdown();
    assert!(proxy.ended().await.success());
    assert!(response.text().await.is_err(), "its last chunk is missing");
}
