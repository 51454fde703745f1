//! Thousands of unauthenticated clients: the proxy's memory stays bounded, and callers still get responses.

use harness::{Service, Wire, peak_memory};
use serde_json::json;
use std::time::{Duration, Instant};

/// The number of connections that send half of a head, and of those that send a large body.
const HALF_OPEN: usize = 1000;
const BODIES: usize = 60;
const BODY: usize = 16 << 20;

/// The 99th percentile of the latencies.
async fn p99(service: &Service) -> Duration {
    let mut times = Vec::new();
    for _ in 0..300 {
        let began = Instant::now();
        service.by_key("K-1").await.expect(200);
        times.push(began.elapsed());
    }
    times.sort();
    times[times.len() * 99 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flood_of_unauthenticated_clients_does_not_delay_callers() {
    rlimit::increase_nofile_limit(16_384).expect("connections are files");
    let service = Service::start().await;
    service.upsert("K-1", json!({})).await.expect(201);
    let quiet = p99(&service).await;

    let key = service.database.nonexistent_key().await;
    let mut half_open = Vec::new();
    for _ in 0..HALF_OPEN {
        let mut wire = Wire::open(service.proxy.address()).await;
        let head = format!("GET /v1/me HTTP/1.1\r\nX-Filler: {}", "x".repeat(8000));
        wire.send(head.as_bytes()).await.expect("the buffers have room");
        half_open.push(wire);
    }
    let mut bodies = Vec::new();
    for number in 0..BODIES {
        let (request, key) = match number % 3 {
            0 => ("POST /v1/entities/batch", key.clone()),
            1 => ("POST /v1/entities/batch", "keyed_1_wrong".to_owned()),
            _ => ("POST /v1/inbound/none", String::new()),
        };
        let headers = format!("Content-Type: application/json\nContent-Length: {BODY}");
        let mut wire = Wire::begin(&service.proxy, request, &key, &headers).await;
        bodies.push(tokio::spawn(async move {
            let chunk = vec![b' '; 64 << 10];
            for _ in 0..BODY / chunk.len() {
                if wire.send(&chunk).await.is_err() {
                    return;
                }
            }
        }));
    }
    let busy = p99(&service).await;
    for body in bodies {
        body.await.expect("the request is sent or rejected");
    }
    assert!(peak_memory(service.proxy.process()) < 256, "{} MiB", peak_memory(service.proxy.process()));
    // With so few lookups, the percentile is noisy on a busy machine, so there is a floor. A lookup blocked by an
    // unauthenticated client would take longer: half of a head may take 10 s.
    let max = (5 * quiet).max(Duration::from_secs(5));
    assert!(busy < max, "p99 {busy:?} instead of {quiet:?}");
}
