//! Spans of requests, as a collector receives them.

use harness::collector::Span;
use harness::{Collector, Service, until};
use serde_json::json;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
const ROUTE: &str = "/v1/entities/template/customers/by-key";

/// By default, spans are exported every five seconds.
const SOON: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "50");

async fn traced(collector: &Collector, more: &[(&str, &str)]) -> Service {
    let url = collector.url();
    let mut settings =
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("KEYED_LOG_FORMAT", "json"), SOON];
    settings.extend_from_slice(more);
    Service::start_with(&settings).await
}

fn names(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.span.name.as_str()).collect()
}

#[tokio::test]
async fn request_continues_the_trace_of_its_caller() {
    let collector = Collector::start().await;
    let service = traced(&collector, &[]).await;
    let body = json!({"external_key": "k:secret", "attributes": {"name": "Ada secret"}});
    let request = service.proxy.request("PUT", ROUTE).json(&body);
    let request = request.header("traceparent", &format!("00-{TRACE}-{PARENT}-01"));
    request.header("x-request-id", "order-4711").send().await.expect(201);

    let (request, parts) = collector.request("order-4711").await;
    assert!(request.is_of_server());
    assert_eq!(request.trace_id(), TRACE);
    assert_eq!(request.span.parent_span_id, u64::from_str_radix(PARENT, 16).expect("digits").to_be_bytes());
    assert_eq!(request.span.name, "PUT /v1/entities/template/{template}/by-key");
    for (name, value) in [
        ("http.request.method", "PUT"),
        ("http.route", "/v1/entities/template/{template}/by-key"),
        ("http.response.status_code", "201"),
        ("keyed.role", "keyed_admin"),
        ("keyed.project", "crm"),
    ] {
        assert_eq!(request.attribute(name).as_deref(), Some(value), "{name}");
    }
    let service_name = ("service.name".to_owned(), "keyed-proxy".to_owned());
    assert!(request.resource.contains(&service_name), "{:?}", request.resource);

    let within: Vec<&str> =
        names(&parts).into_iter().filter(|name| *name != "wait for a connection").collect();
    assert_eq!(within, ["authenticate", "receive", "upsert_by_key", "answer"], "{parts:#?}");
    for part in &parts {
        assert_eq!(part.trace_id(), TRACE);
        assert!(part.span.start_time_unix_nano >= request.span.start_time_unix_nano, "{part:?}");
        assert!(part.span.end_time_unix_nano >= part.span.start_time_unix_nano, "{part:?}");
        assert!(part.span.end_time_unix_nano <= request.span.end_time_unix_nano, "{part:?}");
    }
    let log = service.proxy.access_log("order-4711").await;
    assert_eq!(log[0]["trace_id"], TRACE);

    let sent = String::from_utf8_lossy(&collector.bytes()).into_owned();
    for secret in ["k:secret", "Ada secret", service.proxy.key()] {
        assert!(!sent.contains(secret), "{secret} is in what was exported");
    }
}

#[tokio::test]
async fn request_without_a_trace_begins_one() {
    let collector = Collector::start().await;
    let service = traced(&collector, &[("KEYED_STATEMENT_TIMEOUT", "0.2")]).await;
    let send = |method: &'static str, path: &'static str, id: &'static str| {
        service.proxy.request(method, path).header("x-request-id", id)
    };
    send("GET", "/v1/me", "first").header("traceparent", "00-not-a-trace-01").send().await.expect(200);
    send("GET", "/v1/templates/unknown", "unknown").send().await.expect_error(404, "not_found");
    let holder = service.session().await;
    holder.run("begin; lock table crm.customers in access exclusive mode").await;
    let body = json!({"external_key": "k", "attributes": {}});
    let response = send("PUT", ROUTE, "late").json(&body).send().await;
    assert!(matches!(response.status, 503 | 504), "{}", response.text);
    holder.run("rollback").await;

    let (first, _) = collector.request("first").await;
    let (unknown, _) = collector.request("unknown").await;
    assert_ne!(first.trace_id(), unknown.trace_id());
    assert!(first.span.parent_span_id.is_empty());
    let code = |span: &Span| span.span.status.as_ref().map(|status| status.code).unwrap_or_default();
    assert_eq!((code(&first), code(&unknown)), (0, 0), "an error of the caller is not a server error");
    assert_eq!(unknown.attribute("db.response.status_code").as_deref(), Some("P0002"));
    let (late, parts) = collector.request("late").await;
    assert_eq!(code(&late), 2, "{late:?}");
    assert_eq!(late.attribute("error.type"), late.attribute("http.response.status_code"));
    let statement = parts.iter().find(|part| part.span.name == "upsert_by_key").expect("a statement");
    assert!(statement.attribute("db.response.status_code").is_some(), "{statement:?}");
}

#[tokio::test]
async fn unsampled_trace_is_logged_but_not_exported() {
    let collector = Collector::start().await;
    let service = traced(&collector, &[]).await;
    let unsampled = format!("00-{TRACE}-{PARENT}-00");
    let request = service.proxy.request("GET", "/v1/me").header("traceparent", &unsampled);
    request.header("x-request-id", "silent").send().await.expect(200);
    service.proxy.request("GET", "/v1/me").header("x-request-id", "loud").send().await.expect(200);
    collector.request("loud").await;
    assert!(collector.spans().iter().all(|span| span.trace_id() != TRACE));
    assert_eq!(service.proxy.access_log("silent").await[0]["trace_id"], TRACE);
}

#[tokio::test]
async fn unauthenticated_caller_cannot_control_tracing() {
    let collector = Collector::start().await;
    let service = traced(&collector, &[("OTEL_TRACES_SAMPLER", "parentbased_always_on")]).await;
    for (id, sampled) in [("sampled", "01"), ("unsampled", "00")] {
        let request = service.proxy.request("GET", "/v1/me").without_key().header("x-request-id", id);
        let request = request.header("traceparent", &format!("00-{TRACE}-{PARENT}-{sampled}"));
        request.send().await.expect_error(401, "unauthorized");
        let (span, _) = collector.request(id).await;
        assert_ne!(span.trace_id(), TRACE, "{id}");
        assert!(span.span.parent_span_id.is_empty(), "{id}");
    }
}

#[tokio::test]
async fn trace_state_has_the_limit_of_the_specification() {
    let collector = Collector::start().await;
    let service = traced(&collector, &[]).await;
    let long = format!("vendor={}", "x".repeat(600));
    for (id, state) in [("short", "vendor=1"), ("long", long.as_str())] {
        let request = service.proxy.request("GET", "/v1/me").header("x-request-id", id);
        let request = request.header("traceparent", &format!("00-{TRACE}-{PARENT}-01"));
        request.header("tracestate", state).send().await.expect(200);
    }
    let state = async |id| collector.request(id).await.0.span.trace_state;
    assert_eq!((state("short").await.as_str(), state("long").await.as_str()), ("vendor=1", ""));
}

#[tokio::test]
async fn missing_collector_only_loses_spans() {
    let closed = "http://127.0.0.1:9";
    let service = Service::start_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", closed), SOON]).await;
    service.get("/me").await.expect(200);
    until("the log says so", async || service.proxy.log().contains("opentelemetry")).await;
    assert!(service.proxy.terminate().await.success());
}

#[tokio::test]
async fn last_spans_are_exported_when_the_proxy_stops() {
    for workers in ["1", "2"] {
        let collector = Collector::start().await;
        let service =
            traced(&collector, &[("OTEL_BSP_SCHEDULE_DELAY", "600000"), ("KEYED_WORKERS", workers)]).await;
        service.get("/me").await.expect(200);
        assert!(collector.spans().is_empty(), "the next export is in ten minutes");
        assert!(service.proxy.terminate().await.success());
        assert!(collector.spans().iter().any(Span::is_of_server), "with {workers} threads");
    }
}
