//! Common properties of all responses, and the routes that monitor the service.

use harness::{Service, id_of, until};
use serde_json::{Value, json};

#[tokio::test]
async fn responses_have_the_request_id() {
    let service = Service::start().await;
    let id = "0192f0c1-2222-7abc-8def-0123456789ab";
    for path in ["/v1/templates", "/v1/entities/x", "/healthz", "/nowhere"] {
        let response = service.proxy.request("GET", path).header("x-request-id", id).send().await;
        assert_eq!(response.header("x-request-id"), id, "{path}");
        if response.status >= 400 {
            assert_eq!(response.body["instance"], format!("urn:uuid:{id}"), "{path}");
        }
        let own = service.proxy.request("GET", path).send().await;
        assert_eq!(own.header("x-request-id").len(), 36, "{path}");
        let kept = service.proxy.request("GET", path).header("x-request-id", "deploy/7").send().await;
        assert_eq!(kept.header("x-request-id"), "deploy/7", "{path}");
        let odd = service.proxy.request("GET", path).header("x-request-id", "two words").send().await;
        assert_eq!(odd.header("x-request-id").len(), 36, "{path}");
        assert_eq!(odd.header("x-content-type-options"), "nosniff", "{path}");
    }
}

#[tokio::test]
async fn response_405_lists_the_allowed_methods() {
    let service = Service::start().await;
    for (method, path, allowed) in [
        ("POST", "/v1/entities/x", vec!["GET", "PATCH", "PUT", "DELETE"]),
        ("GET", "/v1/entities/template/customers", vec!["POST"]),
        ("PATCH", "/v1/entities/template/customers/by-key", vec!["GET", "PUT", "DELETE"]),
        ("DELETE", "/v1/templates", vec!["GET", "POST"]),
    ] {
        let response = service.proxy.request(method, path).send().await;
        let allow = response.header("allow").to_owned();
        assert!(allowed.iter().all(|method| allow.contains(method)), "{method} {path}: {allow}");
        response.expect_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn large_response_is_compressed_on_request() {
    let service = Service::start().await;
    let record = service.create(json!({"attributes": {"name": "x".repeat(100_000)}})).await;
    let path = format!("/v1/entities/{}", id_of(&record));
    let plain = service.proxy.request("GET", &path).send().await;
    assert_eq!((plain.header("content-encoding"), plain.text.len() > 100_000), ("", true));
    let packed = service.proxy.request("GET", &path).header("accept-encoding", "gzip").response().await;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert!(packed.bytes().await.expect("a body").len() < 10_000);
}

#[tokio::test]
async fn health_and_readiness_need_no_key() {
    let service = Service::start().await;
    for path in ["/healthz", "/readyz"] {
        let response = service.proxy.request("GET", path).without_key().without_project().send().await;
        assert_eq!(response.header("content-type"), "application/json");
        response.expect(200);
    }
}

#[tokio::test]
async fn template_changed_in_sql_applies_to_all_connections() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "6")]).await;
    let session = service.session().await;
    // Every connection of the pool has cached the template.
    let ask = async || {
        let requests =
            (0..24).map(|_| tokio::spawn(service.proxy.request("GET", "/v1/templates/customers").send()));
        let mut responses = Vec::new();
        for request in requests.collect::<Vec<_>>() {
            responses.push(request.await.expect("the request ends").expect(200));
        }
        responses
    };
    ask().await;
    session.run("alter table crm.customers drop column tags").await;
    for template in ask().await {
        assert_eq!(template["attributes"].as_array().map(Vec::len), Some(8));
    }
    service.post("/entities/template/orders", json!({})).await.expect_error(404, "not_found");
    session.run("select keyed.create_template('crm', 'orders')").await;
    for _ in 0..12 {
        service.post("/entities/template/orders", json!({})).await.expect(201);
    }
}

#[tokio::test]
async fn responses_are_not_cacheable() {
    let service = Service::start().await;
    for path in ["/v1/templates", "/v1/me", "/nowhere", "/readyz"] {
        let response = service.proxy.request("GET", path).send().await;
        assert_eq!(response.header("cache-control"), "no-store", "{path}");
    }
    let document = service.proxy.request("GET", "/openapi.json").response().await;
    assert_eq!(document.headers()["cache-control"], "no-cache");
}

#[tokio::test]
async fn openapi_document_supports_etags() {
    let service = Service::start().await;
    let ask = async |name: &str, value: &str| {
        let request = service.proxy.request("GET", "/openapi.json").without_key();
        request.header("accept-encoding", "gzip").header(name, value).response().await
    };
    let first = ask("x-filler", "x").await;
    assert_eq!(
        (first.status().as_u16(), &first.headers()["content-encoding"]),
        (200, &"gzip".parse().expect("text"))
    );
    let tag = first.headers()["etag"].to_str().expect("text").to_owned();
    assert!(tag.ends_with("-gzip\""), "each representation has its own tag: {tag}");
    let size = first.bytes().await.expect("a body").len();
    assert!((10_000..100_000).contains(&size), "{size}");
    let again = ask("if-none-match", &tag).await;
    assert_eq!((again.status().as_u16(), again.bytes().await.expect("no body").len()), (304, 0));
    let plain = service.proxy.request("GET", "/openapi.json").without_key().response().await;
    assert_eq!(plain.headers().get("content-encoding"), None);
    let document: Value = plain.json().await.expect("JSON");
    assert_eq!(document["openapi"], "3.1.0");
}

#[tokio::test]
async fn cors_allows_only_configured_origins() {
    let page = "https://app.example.com";
    let closed = Service::start().await;
    let response = closed.proxy.request("GET", "/v1/templates").header("origin", page).response().await;
    assert_eq!(response.headers().get("access-control-allow-origin"), None);

    let open =
        Service::start_with(&[("KEYED_CORS_ORIGINS", "https://app.example.com, http://localhost:3000")])
            .await;
    let ask = |method: &'static str, origin: &'static str| {
        let request = open.proxy.request(method, "/v1/templates").header("origin", origin);
        request.header("access-control-request-method", "PUT").without_key().response()
    };
    let before = ask("OPTIONS", page).await;
    let header = |name: &str| {
        before.headers().get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_lowercase()
    };
    assert_eq!((before.status().as_u16(), header("access-control-allow-origin").as_str()), (200, page));
    assert!(header("access-control-allow-methods").contains("patch"));
    for name in ["authorization", "x-service-project-id", "idempotency-key", "if-match"] {
        assert!(header("access-control-allow-headers").contains(name), "{name}");
    }
    // A browser can read errors as well.
    let rejected = ask("GET", page).await;
    assert_eq!(
        (rejected.status().as_u16(), &rejected.headers()["access-control-allow-origin"]),
        (401, &page.parse().expect("a value"))
    );
    let exposed = rejected.headers()["access-control-expose-headers"].to_str().expect("names").to_lowercase();
    for name in ["etag", "location", "retry-after", "ratelimit-remaining", "x-request-id", "x-search-exact"] {
        assert!(exposed.contains(name), "{name}: {exposed}");
    }
    assert_eq!(rejected.headers().get("access-control-allow-credentials"), None);
    let unprivileged = ask("GET", "https://evil.example.com").await;
    assert_eq!(unprivileged.headers().get("access-control-allow-origin"), None);
}

/// Repeats the request until it gets this response, because readiness is checked once a second.
async fn readiness(service: &Service, status: u16) -> harness::Response {
    let ask = async || service.proxy.request("GET", "/readyz").send().await;
    until(&format!("/readyz answers {status}"), async || ask().await.status == status).await;
    ask().await
}

#[tokio::test]
async fn database_before_its_migration_is_not_ready() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("delete from keyed_state.version where number = 1").await;
    let problem = readiness(&service, 503).await.expect_error(503, "unavailable");
    assert!(problem["detail"].as_str().is_some_and(|it| it.contains("keyed.migrate()")), "{problem}");
    session.run("insert into keyed_state.version (number) values (1)").await;
    readiness(&service, 200).await;
    session.run("update pg_extension set extversion = '77.0' where extname = 'keyed'").await;
    let problem = readiness(&service, 503).await.expect_error(503, "unavailable");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|it| it.contains("this database has 77.0. Use keyed-proxy 77.x")),
        "{problem}"
    );
}

#[tokio::test]
async fn writes_continue_after_a_failover() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "4")]).await;
    let session = service.session().await;
    let name = service.database.name();
    // A demoted server keeps its connections and rejects writes.
    session
        .run(&format!("alter role keyed_proxy in database \"{name}\" set default_transaction_read_only = on"))
        .await;
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = current_database() and usename = 'keyed_proxy'";
    session.text(end, &[]).await;
    let body = json!({"attributes": {"name": "Ada"}});
    service.post("/entities/template/customers", body.clone()).await.expect_error(503, "unavailable");
    service.get("/templates").await.expect(200);
    session
        .run(&format!("alter role keyed_proxy in database \"{name}\" reset default_transaction_read_only"))
        .await;
    // The earlier connections still exist. They are closed at most one second after they were opened.
    until("writes succeed", async || {
        let response = service.post("/entities/template/customers", body.clone()).await;
        response.status == 201 || response.expect_error(503, "unavailable").is_null()
    })
    .await;
    for _ in 0..8 {
        service.post("/entities/template/customers", body.clone()).await.expect(201);
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "9", "each was written once");
}

#[tokio::test]
async fn old_connection_is_replaced() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "1"), ("KEYED_CONNECTION_AGE", "0.2")]).await;
    let session = service.session().await;
    let mut seen = std::collections::HashSet::new();
    // A connection that is too old may be closed before it is selected.
    let pid = "select coalesce(max(pid)::text, '') from pg_stat_activity where datname = current_database() \
               and usename = 'keyed_proxy' and query like '%list_templates%'";
    until("three connections have responded", async || {
        service.get("/templates").await.expect(200);
        let found = session.text(pid, &[]).await;
        if !found.is_empty() {
            seen.insert(found);
        }
        seen.len() >= 3
    })
    .await;
}
