//! Receivers that fail in different ways. None delays another.

use super::{create, service, service_with, until_tried};
use harness::{Reaction, Receiver};
use serde_json::json;
use std::time::Duration;

/// The error of an attempt to deliver to a receiver with this reaction.
async fn error_of(reaction: Reaction) -> String {
    let receiver = Receiver::start_with(move |_| reaction.clone()).await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    let entry = until_tried(&service, "shop", 1, "pending").await;
    entry["last_error"].as_str().expect("an error").to_owned()
}

#[tokio::test]
async fn unresponsive_receiver_is_a_failure_after_the_timeout() {
    assert_eq!(error_of(Reaction::Silence).await, "no response within 2 seconds");
}

#[tokio::test]
async fn unfinished_response_is_a_failure_after_the_timeout() {
    assert_eq!(error_of(Reaction::Unfinished).await, "the response did not end within 2 seconds");
}

#[tokio::test]
async fn reset_connection_is_a_failure() {
    let error = error_of(Reaction::Reset).await;
    assert!(error.contains("the connection broke"), "{error}");
}

#[tokio::test]
async fn unreachable_receiver_is_a_failure() {
    let receiver = Receiver::start().await;
    let url = receiver.url("/");
    drop(receiver);
    let service = service_with(&[]).await;
    create(&service, "shop", &url, json!({})).await;
    service.upsert("a", json!({})).await.expect(201);
    let entry = until_tried(&service, "shop", 1, "pending").await;
    assert!(entry["last_error"].as_str().is_some_and(|error| error.contains("cannot connect")), "{entry}");
}

#[tokio::test]
async fn slow_receiver_within_the_timeout_is_a_success() {
    let receiver = Receiver::start_with(|_| Reaction::success().after(Duration::from_millis(900))).await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    let entry = until_tried(&service, "shop", 1, "done").await;
    assert!(entry["duration_ms"].as_u64().is_some_and(|time| time >= 900), "{entry}");
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = Receiver::start().await;
    let url = elsewhere.url("/secret");
    let error = error_of(Reaction::redirect(&url)).await;
    assert!(error.contains("redirects are not followed"), "{error}");
    assert!(elsewhere.deliveries().is_empty());
}

#[tokio::test]
async fn beginning_of_a_long_response_is_kept() {
    let receiver =
        Receiver::start_with(|_| Reaction::Status(200, String::new(), "x\u{0}y".repeat(1 << 20))).await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    let entry = until_tried(&service, "shop", 1, "done").await;
    let response = entry["response"].as_str().expect("a response");
    assert!(response.starts_with("x\u{fffd}y") && response.len() <= 1024, "{} bytes", response.len());
}

#[tokio::test]
async fn slow_receiver_does_not_delay_others() {
    let slow = Receiver::start_with(|_| Reaction::Silence).await;
    let fast = Receiver::start().await;
    let service = service_with(&[("KEYED_WEBHOOK_TIMEOUT", "30")]).await;
    create(&service, "slow", &slow.url("/"), json!({})).await;
    create(&service, "fast", &fast.url("/"), json!({})).await;
    for number in 0..60 {
        service.upsert(&number.to_string(), json!({})).await.expect(201);
    }
    fast.until_delivered(60).await;
    assert!(slow.deliveries().len() <= 10, "{} are in flight", slow.deliveries().len());
}
