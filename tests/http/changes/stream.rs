//! Streams of events.

use super::{Events, MEASURED, cursor, of, until_listening};
use futures_util::future::join_all;
use harness::Service;
use serde_json::json;

#[tokio::test]
async fn stream_sends_each_change_once_and_resumes_after_the_last_event() {
    let service = Service::start().await;
    let mut events =
        Events::open(&service, "/changes?template=customers&include=record&numbers=string").await;
    assert!(!events.cursor.is_empty(), "a stream that ends before its first event can be continued, too");
    let begin = events.cursor.clone();
    service.upsert("S-1", json!({"visits": 1.1})).await.expect(201);
    let event = events.next().await.expect("an event");
    assert_eq!((event.name.as_str(), &event.data["operation"]), ("create", &json!("create")));
    assert_eq!(event.data["record"]["attributes"]["visits"], "1.1");
    assert_eq!(event.id.as_deref(), Some(&*events.cursor));
    let behind_first = events.cursor.clone();
    for number in 0..5 {
        service.upsert("S-1", json!({"visits": number})).await.expect(200);
    }
    service.delete("/entities/template/customers/by-key?key=S-1").await;
    for _ in 0..5 {
        assert_eq!(events.next_of().await, of("update", "S-1"));
    }
    assert_eq!(events.next_of().await, of("delete", "S-1"));
    drop(events);

    // As a browser reconnects, with an unchanged URL.
    let path = format!("/v1/changes?template=customers&after={begin}&limit=2");
    let again = service.proxy.request("GET", &path).header("last-event-id", &behind_first);
    let mut events = Events::of(again).await;
    for _ in 0..5 {
        assert_eq!(events.next_of().await, of("update", "S-1"));
    }
    assert_eq!(events.next_of().await, of("delete", "S-1"));
    service.upsert("S-2", json!({"name": "Ada"})).await.expect(201);
    assert_eq!(events.next_of().await, of("create", "S-2"));
    let mut from_after = Events::open(&service, &format!("/changes?template=customers&after={begin}")).await;
    assert_eq!(from_after.next_of().await, of("create", "S-1"));
}

#[tokio::test]
async fn streams_started_at_different_times_get_the_same_changes() {
    let service = Service::start().await;
    let begin = cursor(&service).await;
    let mut streams = Vec::new();
    for number in 0..12 {
        service.upsert(&format!("S-{number}"), json!({"name": "Ada"})).await.expect(201);
        streams.push(Events::open(&service, &format!("/changes?after={begin}")).await);
    }
    for number in 12..60 {
        service.upsert(&format!("S-{number}"), json!({"name": "Ada"})).await.expect(201);
    }
    let all = streams.iter_mut().map(async |events| {
        for number in 0..60 {
            assert_eq!(events.next_of().await, of("create", &format!("S-{number}")));
        }
    });
    join_all(all).await;
}

#[tokio::test]
async fn stream_shows_only_changes_within_the_scope() {
    let service = Service::start().await;
    let role = service.database.create_role("reader").await;
    let scope = json!([{"field": "name", "operator": "eq", "value": "Bern"}]);
    service.database.grant_within(&role, "crm.customers", "read", &scope).await;
    let key = service.database.api_key(&role, &["crm"]).await;
    let mut events =
        Events::of(service.proxy.request("GET", "/v1/changes").key(&key).without_project()).await;
    for (key, name) in [("S-1", "Basel"), ("S-2", "Bern")] {
        service.upsert(key, json!({"name": name})).await.expect(201);
    }
    assert_eq!(events.next_of().await, of("create", "S-2"));
    service.upsert("S-2", json!({"name": "Basel"})).await.expect(200);
    assert_eq!(events.next_of().await, of("gone", ""));
    // A cursor issued for other privileges.
    service.database.grant(&role, "crm.customers", "read").await;
    service.upsert("S-3", json!({"name": "Bern"})).await.expect(201);
    let event = events.next().await.expect("an event");
    assert_eq!((event.name.as_str(), &event.data["code"]), ("error", &json!("resync_required")));
    assert_eq!(event.data["status"], 410);
    assert!(events.next().await.is_none());
    let again = service.proxy.request("GET", "/v1/changes").key(&key).without_project();
    let again = again.header("accept", "text/event-stream").header("last-event-id", &events.cursor);
    again.send().await.expect_error(410, "resync_required");
}

#[tokio::test]
async fn revoked_key_ends_a_stream() {
    let service = Service::start_with(&[MEASURED]).await;
    let key = service.database.api_key("keyed_admin", &["crm"]).await;
    let request = service.proxy.request("GET", "/v1/changes").key(&key).without_project();
    let mut events = Events::of(request).await;
    service.upsert("S-1", json!({"name": "Ada"})).await.expect(201);
    assert_eq!(events.next_of().await, of("create", "S-1"));
    let id = key.split('_').nth(1).expect("a number");
    service.session().await.run(&format!("select keyed.revoke_api_key({id})")).await;
    service.upsert("S-2", json!({"name": "Ada"})).await.expect(201);
    let event = events.next().await.expect("an event");
    assert_eq!((event.name.as_str(), &event.data["code"]), ("error", &json!("unauthorized")));
    assert!(event.data["instance"].as_str().is_some_and(|it| it.starts_with("urn:uuid:")), "{event:?}");
    assert!(events.next().await.is_none());
    until_listening(&service, 0).await;
}

#[tokio::test]
async fn rejected_stream_gets_a_problem_document() {
    let service = Service::start().await;
    let open = |query: &str| {
        service.proxy.request("GET", &format!("/v1/changes{query}")).header("accept", "text/event-stream")
    };
    open("?after=forged").send().await.expect_error(422, "invalid_value");
    open("").header("last-event-id", "forged").send().await.expect_error(422, "invalid_value");
    open("?limit=0").send().await.expect_error(422, "invalid_value");
    open("?template=none").send().await.expect_error(404, "not_found");
    open("").without_key().send().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn stream_is_neither_compressed_nor_cached_and_head_has_no_events() {
    let service = Service::start().await;
    for prefix in ["/v1", "/api/v1"] {
        let request = service.proxy.request("GET", &format!("{prefix}/changes?after=start"));
        let request = request.header("accept", "text/event-stream").header("accept-encoding", "br, gzip");
        let headers = request.response().await.headers().clone();
        assert!(!headers.contains_key("content-encoding"), "{headers:?}");
        assert_eq!(headers["cache-control"], "no-store");
        assert_eq!(headers["x-accel-buffering"], "no");
    }
    let head =
        service.proxy.request("HEAD", "/v1/changes").header("accept", "text/event-stream").send().await;
    assert_eq!((head.status, head.header("content-type")), (200, "text/event-stream"));
}

#[tokio::test]
async fn drain_ends_streams() {
    let service = Service::start_with(&[("KEYED_DRAIN", "600")]).await;
    let mut events = Events::open(&service, "/changes").await;
    service.upsert("S-1", json!({"name": "Ada"})).await.expect(201);
    assert_eq!(events.next_of().await, of("create", "S-1"));
    service.proxy.request_shutdown();
    assert!(events.next().await.is_none());
}
