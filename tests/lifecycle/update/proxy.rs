//! The proxy with an extension of another version.

use super::UPDATE;
use harness::release::RELEASE;
use harness::{Database, Proxy, Response, Service, until};
use serde_json::json;

/// Repeats the request until it has this status, because versions are checked every two seconds.
async fn eventually(service: &Service, path: &str, status: u16) -> Response {
    let ask = async || service.proxy.request("GET", path).send().await;
    until(&format!("{path} answers {status}"), async || ask().await.status == status).await;
    ask().await
}

async fn set_version(service: &Service, version: &str) {
    let set = "update pg_extension set extversion = $1 where extname = 'keyed'";
    service.session().await.rows(set, &[version]).await;
}

#[tokio::test]
async fn proxy_recovers_from_a_version_mismatch() {
    let service = Service::start().await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let installed = service.session().await.text("select keyed.library_version()", &[]).await;
    // The library does not compare itself with these versions, so the proxy rejects them.
    for (version, remedy) in [("77.0", "Use keyed-proxy 77.x"), ("0.0", "ALTER EXTENSION keyed UPDATE")] {
        set_version(&service, version).await;
        for path in ["/readyz", "/v1/entities/template/customers/by-key?key=K", "/v1/templates", "/v1/me"] {
            let problem = eventually(&service, path, 503).await.expect_error(503, "unavailable");
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(
                detail.contains(&format!("this database has {version}")) && detail.contains(remedy),
                "{path}: {problem}"
            );
        }
        service.upsert("L", json!({})).await.expect_error(503, "unavailable");
        service.post("/entities/template/customers/export", json!({})).await.expect_error(503, "unavailable");
        service.proxy.request("GET", "/healthz").send().await.expect(200);
        set_version(&service, &installed).await;
        eventually(&service, "/v1/entities/template/customers/by-key?key=K", 200).await;
        eventually(&service, "/readyz", 200).await;
    }
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "1");
}

#[tokio::test]
async fn newer_proxy_waits_for_the_update() {
    let database = Database::of_the_release().await;
    let proxy = Proxy::start_until_listening(&database).await;
    let service = Service { proxy, database };
    // Even the first request is rejected.
    service.proxy.request("GET", "/v1/me").send().await.expect_error(503, "unavailable");
    let problem = eventually(&service, "/readyz", 503).await.expect_error(503, "unavailable");
    let fits = format!(
        "this database has {RELEASE}. As a superuser: ALTER EXTENSION keyed UPDATE; SELECT keyed.migrate();"
    );
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(&fits)), "{problem}");
    let session = service.session().await;
    session.run(UPDATE).await;
    // The functions work on the old schema version. Readiness reports the missing migration.
    eventually(&service, "/v1/me", 200).await;
    let problem = eventually(&service, "/readyz", 503).await.expect_error(503, "unavailable");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("keyed.migrate()")), "{problem}");
    session.run("select keyed.migrate()").await;
    eventually(&service, "/readyz", 200).await;
    eventually(&service, "/v1/me", 200).await;
}

#[tokio::test]
async fn connections_with_an_older_library_are_replaced() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "4")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let session = service.session().await;
    let installed = session.text("select keyed.library_version()", &[]).await;
    let set = "update pg_extension set extversion = $1 where extname = 'keyed';
        create or replace function keyed.library_version() returns text language c volatile parallel safe as '$libdir/keyed', 'keyed_library_version'";
    session.rows(set, &["99.0.0"]).await;
    eventually(&service, "/readyz", 503).await;
    eventually(&service, "/v1/entities/template/customers/by-key?key=K", 503).await;
    session.rows(set, &[&installed]).await;
    eventually(&service, "/readyz", 200).await;
    eventually(&service, "/v1/entities/template/customers/by-key?key=K", 200).await;
    service.upsert("K", json!({"name": "Eve"})).await.expect(200);
}
