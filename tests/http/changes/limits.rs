//! The resources of requests that wait for changes.

use super::{Events, MEASURED, until_listening};
use harness::{Service, Wire, status_of, until};
use serde_json::json;

#[tokio::test]
async fn streams_leave_requests_and_connections_to_writes() {
    let settings = [MEASURED, ("KEYED_MAX_REQUESTS_PER_KEY", "2"), ("KEYED_POOL_SIZE", "4")];
    let service = Service::start_with(&settings).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(Events::open(&service, "/changes").await);
    }
    until_listening(&service, 20).await;
    for number in 0..10 {
        service.upsert(&format!("L-{number}"), json!({"name": "Ada"})).await.expect(201);
    }
    for events in &mut streams {
        for number in 0..10 {
            assert_eq!(events.next_of().await, super::of("create", &format!("L-{number}")));
        }
    }
    drop(streams);
    until_listening(&service, 0).await;
}

#[tokio::test]
async fn listeners_are_limited_for_each_key_and_in_total() {
    let settings = [MEASURED, ("KEYED_MAX_LISTENERS", "3")];
    let service = Service::start_with(&settings).await;
    let open = |key: &str| {
        let request = service.proxy.request("GET", "/v1/changes").key(key);
        request.header("accept", "text/event-stream")
    };
    let [second, third] = ["keyed_admin"; 2].map(|role| service.database.api_key(role, &["crm"]));
    let (second, third) = (second.await, third.await);
    let _own = [open(service.proxy.key()).response().await, open(service.proxy.key()).response().await];
    let error = open(service.proxy.key()).send().await;
    assert_eq!(error.header("ratelimit-limit"), "2");
    error.expect_error(429, "rate_limited");
    service.get("/changes?wait=1").await.expect_error(429, "rate_limited");
    let last = open(&second).response().await;
    assert_eq!(last.status().as_u16(), 200);
    open(&third).send().await.expect_error(503, "unavailable");
    drop(last);
    until_listening(&service, 2).await;
    assert_eq!(open(&third).response().await.status().as_u16(), 200);
    let metrics = service.proxy.metrics().await;
    let rejected = |reason| metrics.sum("keyed_http_rejected_total", &[("reason", reason)]);
    assert_eq!((rejected("key_listeners"), rejected("listeners")), (2.0, 1.0));
}

#[tokio::test]
async fn stream_that_is_not_read_is_cut() {
    let service = Service::start_with(&[MEASURED, ("KEYED_STALL_TIMEOUT", "1")]).await;
    let mut reader = Wire::open_with_small_buffer(service.proxy.address()).await;
    let request = "GET /v1/changes?include=record";
    reader
        .ask(request, service.proxy.key(), "Accept: text/event-stream")
        .await
        .expect("the head fits into the buffers");
    assert_eq!(status_of(&reader.response().await), 200);
    let long = "x".repeat(50_000);
    until("the stream is cut", async || {
        service.upsert("L-1", json!({"name": format!("{long}{}", service.proxy.log().len())})).await;
        service.upsert("L-1", json!({"name": long})).await;
        let metrics = service.proxy.metrics().await;
        metrics.sum("keyed_http_responses_interrupted_total", &[("by", "slow_client")]) == 1.0
    })
    .await;
    until_listening(&service, 0).await;
}
