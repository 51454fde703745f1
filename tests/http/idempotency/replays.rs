//! The header Idempotency-Key: a request runs once, however often it is sent.

use harness::{Proxy, Request, Response, Service, id_of, until};
use serde_json::{Value, json};

const UPSERT: &str = "/v1/entities/template/customers/by-key";
const CREATE: &str = "/v1/entities/template/customers";

fn request(service: &Service, method: &str, path: &str, key: &str, body: &Value) -> Request {
    service.proxy.request(method, path).header("idempotency-key", key).json(body)
}

/// Asserts that a response is a replay of another one.
#[track_caller]
fn assert_replayed(first: &Response, again: &Response) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    for header in ["location", "content-type"] {
        assert_eq!(again.header(header), first.header(header), "{header}");
    }
}

fn increment() -> Value {
    json!({"external_key": "K", "attributes": {"visits": {"$inc": 1}, "mood": 1}})
}

async fn visits(service: &Service) -> Value {
    service.by_key("K").await.expect(200)["attributes"]["visits"].clone()
}

#[tokio::test]
async fn repeated_writes_get_the_stored_response() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "K", "attributes": {"visits": 0}})).await;
    let id = id_of(&record);
    let batch = json!({"operations": [{"op": "upsert", "template": "customers", "external_key": "K",
        "attributes": {"visits": {"$inc": 1}}}, {"op": "create", "template": "customers", "attributes": {"visits": "x"}}]});
    let template = json!({"slug": "orders", "attributes": [{"slug": "total", "type": "number"}]});
    let by_id = format!("/v1/entities/{id}");
    let requests = [
        ("POST", CREATE.to_owned(), json!({"attributes": {"name": "Ada"}})),
        ("PUT", UPSERT.to_owned(), increment()),
        ("PUT", format!("{UPSERT}?return=record"), increment()),
        ("PATCH", by_id.clone(), json!({"attributes": {"visits": {"$inc": 1}}})),
        ("POST", "/v1/entities/batch".to_owned(), batch),
        ("PUT", by_id.clone(), json!({"attributes": {"visits": 100}})),
        ("POST", "/v1/templates".to_owned(), template),
        ("PATCH", "/v1/templates/orders".to_owned(), json!({"label": "Orders"})),
    ];
    let mut firsts = Vec::new();
    for (number, (method, path, body)) in requests.iter().enumerate() {
        let key = format!("request {number}").replace(' ', "-");
        let first = request(&service, method, path, &key, body).send().await;
        assert!((200..300).contains(&first.status), "{method} {path}: {}", first.text);
        let again = request(&service, method, path, &key, body).send().await;
        assert_replayed(&first, &again);
        firsts.push(first);
    }
    assert_eq!(firsts[0].header("location"), format!("/v1/entities/{}", id_of(&firsts[0].body)));
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "2");
    let increments = "select count(*) from keyed.history($1) where changes ? 'visits'";
    assert_eq!(
        service.session().await.text(increments, &[id]).await,
        "6",
        "creation, four increments, replacement"
    );

    for (method, path) in [("DELETE", by_id.clone()), ("POST", format!("{by_id}/restore"))] {
        let send = || service.proxy.request(method, &path).header("idempotency-key", method).send();
        let first = send().await;
        assert!((200..300).contains(&first.status), "{}", first.text);
        assert_replayed(&first, &send().await);
    }
}

#[tokio::test]
async fn stored_response_does_not_change() {
    let service = Service::start().await;
    let create = || request(&service, "POST", CREATE, "once", &increment());
    let first = create().send().await;
    service.upsert("K", json!({"visits": 7})).await.expect(200);
    assert_replayed(&first, &create().send().await);
    service.delete(&format!("/entities/{}", id_of(&first.body))).await;
    assert_replayed(&first, &create().send().await);
    service.by_key("K").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn reused_idempotency_key_is_rejected() {
    let service = Service::start().await;
    request(&service, "PUT", UPSERT, "once", &increment()).send().await.expect(201);
    let other = json!({"external_key": "K", "attributes": {"visits": {"$inc": 2}}});
    let others = [
        request(&service, "PUT", UPSERT, "once", &other),
        request(&service, "PUT", &format!("{UPSERT}?return=record"), "once", &increment()),
        request(&service, "POST", CREATE, "once", &increment()),
        request(&service, "PUT", UPSERT, "once", &increment()).without_project().project("1"),
    ];
    for other in others {
        let problem = other.send().await.expect_error(422, "idempotency_key_reused");
        assert_eq!(problem["retryable"], false);
    }
    assert_eq!(visits(&service).await, 1);
}

#[tokio::test]
async fn corrected_request_reuses_the_key_of_a_rejected_one() {
    let service = Service::start().await;
    let wrong = json!({"external_key": "K", "attributes": {"visits": "many"}});
    for _ in 0..2 {
        let response = request(&service, "PUT", UPSERT, "once", &wrong).send().await;
        assert_eq!(response.header("idempotency-replayed"), "");
        response.expect_error(422, "invalid_value");
    }
    request(&service, "PUT", UPSERT, "once", &increment()).send().await.expect(201);
    let taken = request(&service, "POST", CREATE, "another", &increment());
    taken.send().await.expect_error(409, "external_key_taken");
    service.delete("/entities/template/customers/by-key?key=K").await;
    request(&service, "POST", CREATE, "another", &increment()).send().await.expect(201);
}

#[tokio::test]
async fn keys_belong_to_the_api_key_that_sent_them() {
    let service = Service::start().await;
    request(&service, "PUT", UPSERT, "once", &increment()).send().await.expect(201);
    let other = service.database.api_key("keyed_admin", &[]).await;
    let response = request(&service, "PUT", UPSERT, "once", &increment()).key(&other).send().await;
    assert_eq!(response.header("idempotency-replayed"), "");
    response.expect(200);
    assert_eq!(visits(&service).await, 2);
}

#[tokio::test]
async fn idempotency_key_has_a_limit_and_is_given_once() {
    let service = Service::start().await;
    let longest = "x".repeat(255);
    for key in [longest.as_str(), "\"a b\"", "!~"] {
        request(&service, "PUT", UPSERT, key, &increment()).send().await;
    }
    assert_eq!(visits(&service).await, 3);
    let too_long = format!("{longest}x");
    for key in ["", "a b", &too_long, "\"a\"b\""] {
        let response = request(&service, "PUT", UPSERT, key, &increment()).send().await;
        response.expect_error(400, "malformed_request");
    }
    let twice = request(&service, "PUT", UPSERT, "a", &increment()).header("idempotency-key", "a");
    twice.send().await.expect_error(400, "malformed_request");
    assert_eq!(visits(&service).await, 3);
}

#[tokio::test]
async fn quoted_idempotency_key_equals_the_bare_one() {
    let service = Service::start().await;
    let first = request(&service, "PUT", UPSERT, "abc", &increment()).send().await;
    assert_replayed(&first, &request(&service, "PUT", UPSERT, "\"abc\"", &increment()).send().await);
}

#[tokio::test]
async fn reads_ignore_the_idempotency_key() {
    let service = Service::start().await;
    service.upsert("K", json!({"visits": 1})).await.expect(201);
    for _ in 0..2 {
        let search = request(&service, "POST", "/v1/entities/search/customers", "k", &json!({}));
        let response = search.send().await;
        assert_eq!(response.header("idempotency-replayed"), "");
        assert_eq!(response.expect(200)["records"].as_array().map(Vec::len), Some(1));
        let read = service.proxy.request("GET", "/v1/me").header("idempotency-key", "not valid").send().await;
        read.expect(200);
    }
}

#[tokio::test]
async fn repeated_request_conflicts_while_the_first_runs() {
    let service = Service::start().await;
    service.upsert("K", json!({"visits": 0})).await.expect(201);
    let holder = service.session().await;
    holder.run("begin; select from crm.customers for update").await;
    let first = tokio::spawn(request(&service, "PUT", UPSERT, "once", &increment()).send());
    let observer = service.session().await;
    observer.until_blocked(1).await;
    let second = request(&service, "PUT", UPSERT, "once", &increment()).send().await;
    assert!(["1", "2", "3"].contains(&second.header("retry-after")));
    assert_eq!(second.expect_error(409, "request_in_progress")["retryable"], true);
    // Other requests are not affected.
    request(&service, "PUT", UPSERT, "other", &json!({"external_key": "L"})).send().await.expect(201);
    holder.run("rollback").await;
    let first = first.await.expect("the request gets a response");
    assert_eq!(first.status, 200);
    assert_replayed(&first, &request(&service, "PUT", UPSERT, "once", &increment()).send().await);
    assert_eq!(visits(&service).await, 1);
}

#[tokio::test]
async fn stored_response_expires_after_a_day() {
    let service = Service::start().await;
    let session = service.session().await;
    request(&service, "PUT", UPSERT, "once", &increment()).send().await.expect(201);
    session.run("update keyed_state.idempotent_request set created_at = now() - interval '23:59'").await;
    let again = request(&service, "PUT", UPSERT, "once", &increment()).send().await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, "true"));
    session.run("update keyed_state.idempotent_request set created_at = now() - interval '24:01'").await;
    let again = request(&service, "PUT", UPSERT, "once", &increment()).send().await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, ""));
    assert_eq!(visits(&service).await, 2);
}

#[tokio::test]
async fn later_requests_remove_expired_responses() {
    let service = Service::start().await;
    let session = service.session().await;
    session
        .run(
            "insert into keyed_state.idempotent_request
             select 1, n::text, sha256(n::text::bytea), '{200}', now() - interval '25:00' from generate_series(1, 40) n;
             insert into keyed_state.idempotent_request values (1, 'young', sha256(''), '{200}')",
        )
        .await;
    for number in 0..400 {
        let body = json!({"external_key": "K", "attributes": {"visits": number}});
        request(&service, "PUT", UPSERT, &format!("n-{number}"), &body).send().await;
        let left =
            "select count(*) from keyed_state.idempotent_request where created_at < now() - interval '24:00'";
        if session.text(left, &[]).await == "0" {
            let young = "select count(*) from keyed_state.idempotent_request where idempotency_key = 'young'";
            assert_eq!(session.text(young, &[]).await, "1");
            return;
        }
    }
    panic!("400 requests have not removed 40 old responses");
}

#[tokio::test]
async fn killed_proxy_leaves_one_effect() {
    let service = Service::start().await;
    service.upsert("K", json!({"visits": 0})).await.expect(201);
    // While the trigger waits, the row is written and the transaction is not committed.
    service
        .session()
        .await
        .run(
            "create function public.dawdle() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(1); return null; end';
             create trigger dawdle after update on crm.customers for each row execute function public.dawdle()",
        )
        .await;
    let session = service.session().await;
    for round in 1..=3 {
        let doomed = Proxy::start(&service.database).await.in_project("crm");
        let key = doomed.key().to_owned();
        let once = |proxy: &Proxy| {
            proxy.request("PUT", UPSERT).key(&key).header("idempotency-key", "once").json(&increment())
        };
        session.run("select pg_advisory_lock(1)").await;
        let unanswered = tokio::spawn(once(&doomed).response());
        session.until_blocked(1).await;
        drop(doomed);
        assert!(unanswered.await.is_err(), "the request got a response");
        // The repeated request retries until the first one has ended.
        once(&service.proxy).send().await.expect_error(409, "request_in_progress");
        session.run("select pg_advisory_unlock(1)").await;
        let mut status = 409;
        until("the request ends", async || {
            status = once(&service.proxy).send().await.status;
            status != 409
        })
        .await;
        assert_eq!(status, 200);
        assert_eq!(visits(&service).await, round, "one effect for each round");
        let points = "select count(*) from keyed.metric_series((select id from crm.customers), 'mood')";
        assert_eq!(session.text(points, &[]).await, round.to_string());
    }
}
