//! Limits of one caller: memory for bodies, files, connections, and time.

use harness::{Service, Wire, status_of};
use std::net::Ipv4Addr;
use std::time::Duration;

const JSON: &str = "Content-Type: application/json";
const CSV: &str = "Content-Type: text/csv\nTransfer-Encoding: chunked";

async fn import(service: &Service, key: &str, query: &str) -> Wire {
    let request = format!("POST /v1/entities/template/customers/import{query}");
    Wire::begin(&service.proxy, &request, key, CSV).await
}

/// A chunk of a body.
fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

/// Waits until the proxy has this many open transactions.
async fn transactions(service: &Service, count: usize) {
    let session = service.session().await;
    let statement = "select count(*) from pg_stat_activity where datname = current_database() \
                     and usename = 'keyed_proxy' and state = 'idle in transaction'";
    session.until(statement, &count.to_string()).await;
}

#[tokio::test]
async fn stalled_body_times_out() {
    let service = Service::start_with(&[("KEYED_STALL_TIMEOUT", "1")]).await;
    let headers = format!("{JSON}\nContent-Length: 1000");
    let mut wire =
        Wire::begin(&service.proxy, "POST /v1/entities/batch", service.proxy.key(), &headers).await;
    wire.send(b"{").await.expect("it is still read");
    let response = wire.response().await;
    assert_eq!(status_of(&response), 408, "{response}");
    // The same applies to a file, before and after its header.
    for beginning in ["exter", "external_key\nK-1\nK-2\n"] {
        for query in ["", "?on_error=skip"] {
            let mut wire = import(&service, service.proxy.key(), query).await;
            wire.send(&chunk(beginning)).await.expect("it is still read");
            let response = wire.response().await;
            assert_eq!(status_of(&response), 408, "{response}");
        }
    }
    transactions(&service, 0).await;
}

#[tokio::test]
async fn file_in_one_transaction_has_a_time_limit() {
    let service = Service::start_with(&[("KEYED_TRANSFER_TIMEOUT", "5"), ("KEYED_MINIMUM_RATE", "1")]).await;
    let mut wire = import(&service, service.proxy.key(), "").await;
    wire.send(&chunk("external_key\n")).await.expect("it is still read");
    transactions(&service, 1).await;
    let mut sent = 0;
    while wire.send(&chunk(&format!("K-{sent}\n"))).await.is_ok() && sent < 1000 {
        sent += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let response = wire.response().await;
    assert_eq!(status_of(&response), 408, "{response}");
    transactions(&service, 0).await;
    service.by_key("K-0").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn files_of_one_key_leave_slots_for_others() {
    let settings = [
        ("KEYED_MAX_TRANSFERS", "2"),
        ("KEYED_MAX_TRANSFERS_PER_KEY", "1"),
        ("KEYED_POOL_WAIT", "2"),
        ("KEYED_POOL_SIZE", "8"),
    ];
    let service = Service::start_with(&settings).await;
    let mut first = import(&service, service.proxy.key(), "").await;
    first.send(&chunk("external_key\nK-1\n")).await.expect("the proxy reads it");
    transactions(&service, 1).await;
    let response = import(&service, service.proxy.key(), "").await.response().await;
    assert!(status_of(&response) == 429 && response.contains("ratelimit-limit: 1\r\n"), "{response}");
    let (second, third) = (
        service.database.api_key("keyed_admin", &[]).await,
        service.database.api_key("keyed_admin", &[]).await,
    );
    let request = "POST /v1/entities/template/companies/import";
    let mut other = Wire::begin(&service.proxy, request, &second, CSV).await;
    other.send(&chunk("external_key,name\nK-2,Ada\n")).await.expect("the proxy reads it");
    transactions(&service, 2).await;
    let response = import(&service, &third, "").await.response().await;
    assert_eq!(status_of(&response), 503, "{response}");
    for mut wire in [first, other] {
        wire.send(b"0\r\n\r\n").await.expect("the proxy reads it");
        assert_eq!(status_of(&wire.response().await), 200);
    }
    service.by_key("K-1").await.expect(200);
}

#[tokio::test]
async fn unauthenticated_clients_use_no_file_slot() {
    let service = Service::start_with(&[("KEYED_MAX_TRANSFERS", "1"), ("KEYED_POOL_WAIT", "2")]).await;
    let key = service.database.nonexistent_key().await;
    let mut wires = Vec::new();
    for number in 0..8 {
        wires.push(import(&service, if number % 2 == 0 { "x" } else { &key }, "").await);
    }
    for wire in &mut wires {
        assert_eq!(status_of(&wire.response().await), 401);
    }
    service.get("/entities/template/customers/export").await.expect(200);
}

#[tokio::test]
async fn slow_bodies_have_a_memory_limit() {
    let settings = [("KEYED_BODY_LIMIT", "1MiB"), ("KEYED_BODY_BUDGET", "2MiB"), ("KEYED_POOL_WAIT", "1")];
    let service = Service::start_with(&settings).await;
    let [second, third] = [
        service.database.api_key("keyed_admin", &[]).await,
        service.database.api_key("keyed_admin", &[]).await,
    ];
    let headers = format!("{JSON}\nContent-Length: {}", 1 << 20);
    let path = "PUT /v1/entities/template/customers/by-key";
    let mut first = Wire::begin(&service.proxy, path, service.proxy.key(), &headers).await;
    let response = loop {
        // The slot is taken shortly after the head is sent, so earlier requests may still get through.
        let mut again = Wire::begin(&service.proxy, path, service.proxy.key(), &headers).await;
        match tokio::time::timeout(Duration::from_secs(3), again.response()).await {
            Ok(response) => break response,
            Err(_) => first = again,
        }
    };
    assert_eq!(status_of(&response), 429, "a key may use half of it: {response}");
    let mut other = Wire::begin(&service.proxy, path, &second, &headers).await;
    assert!(
        tokio::time::timeout(Duration::from_secs(2), other.response()).await.is_err(),
        "the request is still being read"
    );
    let response = Wire::begin(&service.proxy, path, &third, &headers).await.response().await;
    assert!(status_of(&response) == 503 && response.contains("retry-after"), "{response}");
    // A body that needs no slot is read while they wait, after one of them has ended.
    drop(first);
    let mut body = br#"{"external_key": "A-1", "attributes": {}}"#.to_vec();
    body.resize(1 << 20, b' ');
    other.send(&body).await.expect("the proxy reads it");
    assert_eq!(status_of(&other.response().await), 201);
}

#[tokio::test]
async fn connection_over_the_limit_gets_503_with_retry_after() {
    let service = Service::start_with(&[
        ("KEYED_MAX_CONNECTIONS", "2"),
        ("KEYED_MAX_CONNECTIONS_PER_ADDRESS", "2"),
        ("KEYED_HEADER_TIMEOUT", "3"),
    ])
    .await;
    // Connections of the harness count as well.
    let mut wires = Vec::new();
    for _ in 0..2 {
        let mut wire = Wire::open(service.proxy.address()).await;
        wire.send(b"GET / HT").await.expect("the buffers have room");
        wires.push(wire);
    }
    let mut more = Wire::open(service.proxy.address()).await;
    let response = more.response().await;
    assert_eq!(status_of(&response), 503, "{response}");
    assert!(
        response.contains("retry-after: ") && response.contains("\"code\":\"unavailable\""),
        "{response}"
    );
    // Connections that do not complete a head are closed, which frees capacity.
    for wire in &mut wires {
        wire.response().await;
    }
    let mut again = Wire::begin(&service.proxy, "GET /healthz", "", "Accept: */*").await;
    let response = again.response().await;
    assert!([200, 503].contains(&status_of(&response)), "{response}");
}

#[tokio::test]
async fn address_has_a_connection_limit() {
    let service = Service::start_with(&[
        ("KEYED_MAX_CONNECTIONS", "8"),
        ("KEYED_HEADER_TIMEOUT", "5"),
        ("KEYED_LOG", "error"),
    ])
    .await;
    let (address, unprivileged) = (service.proxy.address(), Ipv4Addr::new(127, 0, 0, 2));
    // One address may have half of the connections.
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(Wire::open_from(unprivileged, address).await);
    }
    let response = Wire::open_from(unprivileged, address).await.response().await;
    assert_eq!(status_of(&response), 503, "{response}");
    assert!(response.contains("keyed_max_connections_per_address"), "{response}");
    let mut other = Wire::begin(&service.proxy, "GET /healthz", "", "Accept: */*").await;
    assert_eq!(status_of(&other.response().await), 200);
    // A connection that sends nothing is closed as well, which frees capacity.
    for wire in &mut silent {
        wire.response().await;
    }
    let mut again = Wire::open_from(unprivileged, address).await;
    again.send(b"GET /healthz HTTP/1.1\r\nHost: keyed\r\n\r\n").await.expect("the buffers have room");
    assert_eq!(status_of(&again.response().await), 200);
}
