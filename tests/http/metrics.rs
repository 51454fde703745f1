//! `/metrics`: its counters, and the values that it never discloses.

use crate::routes::inbound::endpoint;
use harness::{Database, Exposition, Proxy, Service, Wire, until};
use serde_json::json;

const LISTEN: (&str, &str) = ("KEYED_METRICS_LISTEN", "127.0.0.1:0");

async fn service() -> Service {
    Service::start_with(&[LISTEN]).await
}

/// The increase of a sum.
fn grown(before: &Exposition, after: &Exposition, name: &str, labels: &[(&str, &str)]) -> f64 {
    after.sum(name, labels) - before.sum(name, labels)
}

#[tokio::test]
async fn requests_are_counted_exactly() {
    let service = service().await;
    service.upsert("A-1", json!({"name": "Ada"})).await.expect(201);
    let before = service.proxy.metrics().await;
    let body = r#"{"external_key": "A-2", "attributes": {"name": "Bob"}}"#;
    let created = service.send_text("POST", "/entities/template/customers", body).await;
    created.expect(201);
    let mut bytes = 0;
    for _ in 0..3 {
        bytes += service.by_key("A-1").await.text.len();
    }
    service.by_key("nobody").await.expect_error(404, "not_found");
    let again = service.post("/entities/template/customers", json!({"external_key": "A-2"})).await;
    again.expect_error(409, "external_key_taken");
    let wrong = service.database.nonexistent_key().await;
    service.proxy.request("GET", "/v1/me").key(&wrong).send().await.expect_error(401, "unauthorized");
    service.proxy.request("GET", "/nowhere").send().await.expect_error(404, "not_found");
    for _ in 0..2 {
        let request = service.proxy.request("POST", "/v1/entities/template/customers");
        request.header("idempotency-key", "one").json(&json!({})).send().await.expect(201);
    }
    let after = service.proxy.metrics().await;
    let by_key = ("route", "/v1/entities/template/{template}/by-key");
    let create = ("route", "/v1/entities/template/{template}");
    for (name, labels, count) in [
        ("keyed_http_requests_total", vec![by_key, ("method", "GET"), ("status", "200")], 3),
        ("keyed_http_requests_total", vec![by_key, ("method", "GET"), ("status", "404")], 1),
        ("keyed_http_request_duration_seconds_count", vec![by_key, ("method", "GET")], 4),
        ("keyed_http_requests_total", vec![create, ("method", "POST"), ("status", "201")], 3),
        ("keyed_http_requests_total", vec![create, ("status", "409")], 1),
        ("keyed_http_requests_total", vec![("route", "/v1/me"), ("status", "401")], 1),
        ("keyed_http_requests_total", vec![("route", "none"), ("status", "404")], 1),
        ("keyed_http_idempotent_replays_total", vec![], 1),
        ("keyed_database_errors_total", vec![("sqlstate", "P0002")], 1),
        ("keyed_database_errors_total", vec![("sqlstate", "23505")], 1),
        ("keyed_database_errors_total", vec![("sqlstate", "28000")], 1),
        ("keyed_database_statement_duration_seconds_count", vec![("kind", "write")], 4),
        ("keyed_http_responses_interrupted_total", vec![], 0),
        ("keyed_http_requests_in_flight", vec![], 0),
    ] {
        let grown = grown(&before, &after, name, &labels);
        assert!((grown - f64::from(count)).abs() < 1e-9, "{name} {labels:?}: {grown}, not {count}");
    }
    let sent = grown(&before, &after, "keyed_http_response_bytes_total", &[by_key]);
    assert!(sent > bytes as f64, "{sent} with a problem, {bytes} without");
    let received = grown(&before, &after, "keyed_http_request_bytes_total", &[create]);
    assert!(received >= body.len() as f64, "{received}");
    for (name, labels) in [
        ("keyed_ready", vec![]),
        ("keyed_build_info", vec![]),
        ("keyed_http_connections", vec![]),
        ("keyed_pool_connections", vec![]),
        ("keyed_shared_connections", vec![("state", "usable")]),
        ("keyed_database_round_trip_seconds_count", vec![]),
        ("process_open_fds", vec![]),
        ("process_resident_memory_bytes", vec![]),
        ("process_start_time_seconds", vec![]),
        // The database's own measurements.
        ("keyed_measurements_up", vec![]),
        ("keyed_templates", vec![]),
        ("keyed_sessions", vec![("state", "idle")]),
    ] {
        assert!(after.sum(name, &labels) > 0.0, "{name}");
    }
    assert!(after.has("keyed_embedding_queue_pending") && after.has("keyed_idempotent_responses"));
}

#[tokio::test]
async fn files_deliveries_and_rejections_are_counted() {
    let service = Service::start_with(&[LISTEN, ("KEYED_KEY_RATE", "8")]).await;
    let file = "external_key,name,visits\na,Ada,1\nb,Bob,x\n";
    let import = |query: &str| {
        let path = format!("/v1/entities/template/customers/import?{query}");
        service.proxy.request("POST", &path).body("text/csv", file).send()
    };
    import("on_error=skip").await.expect(200);
    import("").await.expect_error(422, "invalid_value");
    let export = service.proxy.request("GET", "/v1/entities/template/customers/export").send().await;
    let sender = endpoint(&service, true).await;
    service.deliver_signed(&sender, "msg_1", r#"{"customers": []}"#).await.expect(200);
    service.deliver(&sender, "{}").await.expect_error(401, "unauthorized");
    // The item has no list of customers, so the delivery is stored for a replay.
    assert_eq!(
        service.deliver_signed(&sender, "msg_2", r#"{"customers": [{"name": "Ada"}]}"#).await.status,
        202
    );
    let mut limited = 0;
    while limited == 0 {
        limited += usize::from(service.get("/me").await.status == 429);
    }
    let metrics = service.proxy.metrics().await;
    for (name, labels, value) in [
        ("keyed_imports_total", vec![("outcome", "complete")], 1.0),
        ("keyed_imports_total", vec![("outcome", "rejected")], 1.0),
        ("keyed_import_rows_total", vec![("outcome", "failed")], 2.0),
        ("keyed_import_bytes_total", vec![], 2.0 * file.len() as f64),
        ("keyed_imports_running", vec![], 0.0),
        ("keyed_exports_total", vec![("outcome", "complete")], 1.0),
        ("keyed_export_bytes_total", vec![], export.text.len() as f64),
        ("keyed_inbound_deliveries_total", vec![("outcome", "accepted")], 1.0),
        ("keyed_inbound_deliveries_total", vec![("outcome", "unauthorized")], 1.0),
        ("keyed_inbound_deliveries_total", vec![("outcome", "rejected")], 1.0),
        ("keyed_inbound_deliveries_total", vec![], 3.0),
        ("keyed_http_rejected_total", vec![("reason", "key_rate")], 1.0),
        ("keyed_http_rejected_total", vec![], 1.0),
    ] {
        let found = metrics.sum(name, &labels);
        assert!((found - value).abs() < 1e-9, "{name} {labels:?}: {found}, not {value}");
    }
}

#[tokio::test]
async fn metric_labels_are_bounded() {
    let service = Service::start_with(&[LISTEN, ("KEYED_AUTH_FAILURES", "0")]).await;
    let secret = "s3cr3t";
    let flood = async |round: usize| {
        for number in 0..30 {
            let word = format!("{secret}{round}x{number}");
            let odd = service.proxy.request(&word, &format!("/v1/{word}?{word}={word}"));
            odd.header("x-request-id", &word).response().await;
            service.by_key(&word).await.expect_error(404, "not_found");
            let known =
                service.proxy.request("GET", &format!("/v1/entities/template/{word}/by-key?key={word}"));
            known.project(&word).send().await;
            service.proxy.request(&word, "/v1/me").response().await;
            service.proxy.request("GET", "/v1/me").key(&format!("keyed_1_{word}")).send().await;
            let token = service.proxy.request("POST", &format!("/v1/inbound/in_{word}"));
            token.json(&json!({"name": word})).send().await;
        }
    };
    flood(0).await;
    let before = service.proxy.metrics().await.count();
    flood(1).await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let text = client.get(service.proxy.metrics_url()).send().await.expect("a response");
    let text = text.text().await.expect("metrics");
    assert_eq!(Exposition::read(&text).count(), before);
    assert!(!text.contains(secret), "{text}");
    assert!(!text.contains(service.proxy.key()) && !text.contains("customers"), "{text}");
    assert!(text.len() < 200_000, "{} bytes", text.len());
}

#[tokio::test]
async fn metrics_are_served_while_the_database_is_down() {
    let database = Database::new_durable().await;
    let proxy = Proxy::start_with(&database, &[LISTEN]).await;
    let metrics = proxy.metrics().await;
    assert!(metrics.sum("keyed_ready", &[]) > 0.0 && metrics.has("keyed_templates"));
    database.cluster().stop();
    until("the change is noticed", async || proxy.metrics().await.sum("keyed_ready", &[]) < 1.0).await;
    until("the measurements are old", async || proxy.metrics().await.sum("keyed_measurements_up", &[]) < 1.0)
        .await;
    let metrics = proxy.metrics().await;
    assert!(metrics.has("keyed_templates") && metrics.sum("keyed_measurements_age_seconds", &[]) > 0.0);
    assert!(metrics.has("keyed_http_requests_total") && metrics.has("process_cpu_seconds_total"));
}

#[tokio::test]
async fn idle_connections_do_not_block_a_scraper() {
    let service = service().await;
    let address = service.proxy.metrics_url().replace("http://", "").replace("/metrics", "");
    let address = address.parse().expect("an address");
    let mut silent = Vec::new();
    for _ in 0..16 {
        silent.push(Wire::open(address).await);
    }
    until("their connections are free again", async || {
        reqwest::get(service.proxy.metrics_url()).await.is_ok_and(|response| response.status().is_success())
    })
    .await;
}

#[tokio::test]
async fn metrics_listener_serves_only_metrics() {
    let service = service().await;
    let url = service.proxy.metrics_url();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    for (method, path, status) in [
        ("GET", "/metrics", 200),
        ("HEAD", "/metrics", 200),
        ("POST", "/metrics", 405),
        ("GET", "/v1/me", 404),
        ("GET", "/", 404),
    ] {
        let url = url.replace("/metrics", path);
        let response =
            client.request(method.parse().expect("a method"), url).send().await.expect("a response");
        assert_eq!(response.status().as_u16(), status, "{method} {path}");
    }
    service.proxy.request("GET", "/metrics").send().await.expect_error(404, "not_found");
}
