//! The resources that responses use while their callers read them, and how responses end.

use harness::{Service, Wire, status_of, until};
use serde_json::json;

const JSON: &str = "Content-Type: application/json";

/// More than the buffers on both sides of a connection hold.
const RECORDS: usize = 400;
const TEXT: usize = 32 * HASHES;
const HASHES: usize = 938;

/// A service whose page of all customers has twelve megabytes.
async fn service(settings: &[(&str, &str)]) -> Service {
    let service = Service::start_with(
        &[&[("KEYED_LOG_FORMAT", "json"), ("KEYED_METRICS_LISTEN", "127.0.0.1:0")], settings].concat(),
    )
    .await;
    let session = service.session().await;
    session
        .run(&format!(
            "insert into crm.customers (external_key, name) \
             select 'K-' || n, (select string_agg(md5(n || '-' || i), '') from generate_series(1, {HASHES}) as i) \
             from generate_series(1, {RECORDS}) as n"
        ))
        .await;
    service
}

/// The number of bytes of a response that follow those received with its head.
fn rest(response: &str) -> usize {
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    length.parse::<usize>().expect("a number") - body.len()
}

/// Requests the page, and reads nothing of it.
async fn ask(service: &Service, key: &str, headers: &str) -> Wire {
    let body = format!(r#"{{"limit": {RECORDS}}}"#);
    let headers = format!("{JSON}\nContent-Length: {}{headers}", body.len());
    let mut wire = Wire::begin(&service.proxy, "POST /v1/entities/search/customers", key, &headers).await;
    wire.send(body.as_bytes()).await.expect("the body fits into the buffers");
    wire
}

async fn requests_in_flight(service: &Service) -> f64 {
    service.proxy.metrics().await.sum("keyed_http_requests_in_flight", &[])
}

#[tokio::test]
async fn response_counts_until_it_is_read() {
    let service = service(&[("KEYED_MAX_REQUESTS_PER_KEY", "1")]).await;
    let mut reader = ask(&service, service.proxy.key(), "\nX-Request-Id: slow").await;
    let response = reader.response().await;
    assert_eq!(status_of(&response), 200);
    // The head has arrived, so the whole response is computed.
    service.get("/me").await.expect_error(429, "rate_limited");
    assert_eq!(requests_in_flight(&service).await, 1.0);
    let unfinished = service.proxy.log();
    assert!(!unfinished.contains("\"slow\""), "the line is logged at the end: {unfinished}");
    let mut rest = rest(&response);
    while rest > 0 {
        rest -= reader.read().await.expect("the operation continues");
    }
    until("the response has ended", async || requests_in_flight(&service).await == 0.0).await;
    service.get("/me").await.expect(200);
    let line = service.proxy.access_log("slow").await.remove(0);
    assert!(line["bytes_out"].as_u64() > Some((RECORDS * TEXT) as u64), "{line}");
    assert_eq!(line["ended"], json!(null), "{line}");
}

async fn fill_the_budget(encoding: &str) {
    let service = service(&[("KEYED_RESPONSE_BUDGET", "60MiB"), ("KEYED_POOL_WAIT", "1")]).await;
    let memory = async || service.proxy.metrics().await.sum("process_resident_memory_bytes", &[]);
    let before = memory().await;
    let mut readers = Vec::new();
    let rejected = loop {
        let mut reader = ask(&service, service.proxy.key(), encoding).await;
        let response = reader.response().await;
        match status_of(&response) {
            200 => readers.push(reader),
            _ => break response,
        }
        assert!(readers.len() < 20, "there is no end");
    };
    assert_eq!(status_of(&rejected), 503, "{rejected}");
    assert!(rejected.contains("retry-after: "), "{rejected}");
    assert_eq!(readers.len(), 2, "twelve of thirty megabytes, which are half of the budget");
    // Other keys are not delayed, nor are lookups and writes of the same key.
    service.by_key("K-1").await.expect(200);
    service.upsert("K-1", json!({"name": "Ada"})).await.expect(200);
    let second = service.database.api_key("keyed_admin", &[]).await;
    assert_eq!(status_of(&ask(&service, &second, encoding).await.response().await), 200);
    assert!(memory().await - before < (160 << 20) as f64, "{} to {}", before, memory().await);
    drop(readers);
    until("the responses have ended", async || requests_in_flight(&service).await == 0.0).await;
    assert_eq!(status_of(&ask(&service, service.proxy.key(), encoding).await.response().await), 200);
}

#[tokio::test]
async fn unread_responses_stay_within_their_budget() {
    fill_the_budget("").await;
}

#[tokio::test]
async fn compressed_responses_count_uncompressed() {
    fill_the_budget("\nAccept-Encoding: gzip").await;
}

#[tokio::test]
async fn slowly_read_response_is_cut_and_logged() {
    let service = service(&[("KEYED_STALL_TIMEOUT", "1")]).await;
    let mut reader = ask(&service, service.proxy.key(), "\nX-Request-Id: cut").await;
    assert_eq!(status_of(&reader.response().await), 200);
    until("the response is cut", async || !service.proxy.access_log("cut").await.is_empty()).await;
    let line = service.proxy.access_log("cut").await.remove(0);
    assert_eq!((&line["status"], &line["ended"]), (&json!(200), &json!("client too slow")), "{line}");
    let mut arrived = 0;
    while let Ok(bytes @ 1..) = reader.read().await {
        arrived += bytes;
    }
    let reported = line["bytes_out"].as_u64().expect("a number") as usize;
    assert!(
        reported >= arrived && reported < RECORDS * TEXT / 2,
        "{reported} of which {arrived} arrived: {line}"
    );
    let metrics = service.proxy.metrics().await;
    let interrupted = |by| metrics.sum("keyed_http_responses_interrupted_total", &[("by", by)]);
    assert_eq!((interrupted("slow_client"), interrupted("client")), (1.0, 0.0));
}

#[tokio::test]
async fn closing_connection_waits_for_the_last_bytes() {
    let service = service(&[("KEYED_STALL_TIMEOUT", "1"), ("KEYED_MINIMUM_RATE", "1MiB")]).await;
    // The last bytes exceed this caller's receive buffer, so they wait in the send buffer of the proxy.
    let left = 96 << 10;
    let body = format!(r#"{{"limit": {RECORDS}}}"#);
    let headers = format!("{JSON}\nContent-Length: {}\nConnection: close\nX-Request-Id: last", body.len());
    let mut reader = Wire::open_with_small_buffer(service.proxy.address()).await;
    let path = "POST /v1/entities/search/customers";
    reader.ask(path, service.proxy.key(), &headers).await.expect("the head fits into the buffers");
    reader.send(body.as_bytes()).await.expect("the body fits into the buffers");
    let response = reader.response().await;
    assert_eq!(status_of(&response), 200);
    let mut rest = rest(&response);
    while rest > left {
        rest -= reader.read().await.expect("the operation continues");
    }
    until("the response is cut", async || !service.proxy.access_log("last").await.is_empty()).await;
    assert_eq!(service.proxy.access_log("last").await[0]["ended"], json!("client too slow"));
    assert_eq!(requests_in_flight(&service).await, 0.0);
}

#[tokio::test]
async fn half_closed_connection_gets_its_response() {
    let service = Service::start().await;
    let body = br#"{"external_key": "A-1", "attributes": {"name": "Ada"}}"#;
    let headers = format!("{JSON}\nContent-Length: {}", body.len());
    for status in [201, 200] {
        let path = "PUT /v1/entities/template/customers/by-key";
        let mut wire = Wire::begin(&service.proxy, path, service.proxy.key(), &headers).await;
        wire.send(body).await.expect("the body fits into the buffers");
        wire.finish_sending().await;
        assert_eq!(status_of(&wire.response().await), status);
    }
    let mut wire = Wire::begin(&service.proxy, "GET /v1/me", service.proxy.key(), "Accept: */*").await;
    wire.finish_sending().await;
    assert_eq!(status_of(&wire.response().await), 200);
    // A connection that ends in the middle of a request gets an error or no response.
    let mut wire = Wire::begin(&service.proxy, "PUT /v1/me", service.proxy.key(), &headers).await;
    wire.send(&body[..10]).await.expect("the body fits into the buffers");
    wire.finish_sending().await;
    assert!([0, 400, 405].contains(&status_of(&wire.response().await)));
}

#[tokio::test]
async fn public_files_are_rate_limited_per_address() {
    let service = Service::start_with(&[("KEYED_PUBLIC_RATE", "3")]).await;
    let ask = async |path: &str| {
        service.proxy.request("GET", path).without_key().response().await.status().as_u16()
    };
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(ask("/openapi.json").await);
    }
    assert!(statuses[0] == 200 && statuses.contains(&429), "{statuses:?}");
    for _ in 0..20 {
        assert_eq!(ask("/healthz").await, 200);
    }
    service.get("/me").await.expect(200);
}

#[tokio::test]
async fn pipelined_request_waits_for_the_earlier_response() {
    // Memory for one response of twelve megabytes.
    let service = service(&[("KEYED_RESPONSE_BUDGET", "16MiB"), ("KEYED_POOL_WAIT", "20")]).await;
    let mut reader = Wire::open(service.proxy.address()).await;
    let body = format!(r#"{{"limit": {RECORDS}}}"#);
    let headers = format!("{JSON}\nContent-Length: {}", body.len());
    for _ in 0..3 {
        reader.ask("POST /v1/entities/search/customers", service.proxy.key(), &headers).await.expect("room");
        reader.send(body.as_bytes()).await.expect("the body fits into the buffers");
    }
    for _ in 0..3 {
        let response = reader.response().await;
        assert_eq!(status_of(&response), 200);
        let mut rest = rest(&response);
        while rest > 0 {
            rest -= reader.read_up_to(rest).await.expect("the operation continues");
        }
    }
}

#[tokio::test]
async fn unread_lookups_of_large_records_stay_within_their_budget() {
    let service = Service::start_with(&[("KEYED_RESPONSE_BUDGET", "4MiB"), ("KEYED_POOL_WAIT", "1")]).await;
    service.upsert("LARGE", json!({"name": "x".repeat(900_000)})).await.expect(201);
    let path = "GET /v1/entities/template/customers/by-key?key=LARGE";
    let mut statuses = Vec::new();
    let mut readers = Vec::new();
    for _ in 0..4 {
        let mut reader = Wire::open_with_small_buffer(service.proxy.address()).await;
        reader.ask(path, service.proxy.key(), "Accept: */*").await.expect("the head fits into the buffers");
        statuses.push(status_of(&reader.response().await));
        readers.push(reader);
    }
    assert_eq!(statuses, [200, 200, 503, 503]);
}
