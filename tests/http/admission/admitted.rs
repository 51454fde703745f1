//! Admission: valid keys, invalid keys, and callers that exceed the limits.

use harness::{Database, Response, Service, Wire, status_of, until};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

/// The headers of a rejection by a rate limit.
#[track_caller]
fn assert_rate_limited(response: Response, limit: &str) {
    assert_eq!((response.header("ratelimit-limit"), response.header("ratelimit-remaining")), (limit, "0"));
    for name in ["ratelimit-reset", "retry-after"] {
        assert!(response.header(name).parse::<u32>().is_ok(), "{name}: {:?}", response.header(name));
    }
    let problem = response.expect_error(429, "rate_limited");
    assert_eq!(problem["retryable"], true);
    let hint = problem["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("Retry-After") && hint.contains("KEYED_"), "{hint}");
}

async fn ask(service: &Service, key: &str) -> Response {
    service.proxy.request("GET", "/v1/templates").key(key).send().await
}

/// The number of calls of a function, after all sessions of the proxy have reported statistics.
async fn calls(database: &Database, function: &str) -> u64 {
    let session = database.session().await;
    let sessions = "select count(*) from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database()";
    session.until(sessions, "0").await;
    let calls = "select coalesce(sum(calls), 0)::text from pg_stat_user_functions where funcname = $1";
    session.text(calls, &[function]).await.parse().expect("a number")
}

/// A service whose database counts function calls.
async fn counting(settings: &[(&str, &str)]) -> Service {
    let database = Database::with_crm().await;
    let count = format!("alter database {} set track_functions = 'all'", database.name());
    database.session().await.run(&count).await;
    Service::over(database, settings).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_key_reaches_the_database_once() {
    let Service { proxy, database } =
        Service::start_with(&[("KEYED_INVALID_KEY_TTL", "600"), ("KEYED_AUTH_FAILURES", "0")]).await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(database.nonexistent_key().await);
    }
    let requests = (0..300).map(|number| {
        // A third of them do not have the form of a key.
        let key = keys.get(number % 4).map_or("keyed_1_wrong", String::as_str);
        tokio::spawn(proxy.request("GET", "/v1/templates").key(key).send())
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.expect("the request ends").expect_error(401, "unauthorized");
    }
    let error = format!("keyed_proxy@{} ERROR:  the API key is not valid", database.name());
    let log = database.cluster().log();
    assert_eq!(log.lines().filter(|line| line.contains(&error)).count(), 3, "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_unauthenticated_clients_hold_no_connection() {
    let Service { proxy, database } = Service::start_with(&[("KEYED_AUTH_FAILURES", "0")]).await;
    proxy.request("GET", "/v1/templates").send().await.expect(200);
    let session = database.session().await;
    for _ in 0..200 {
        session.run("begin").await;
        let key = session.text("select keyed.issue_api_key('keyed_admin')", &[]).await;
        session.run("rollback").await;
        drop(Wire::begin(&proxy, "GET /v1/me", &key, "").await);
        drop(Wire::begin(&proxy, "POST /v1/inbound/in_11111111111111111111111111111111", "", "").await);
    }
    // Requests with known, new and invalid keys are processed as before.
    proxy.request("GET", "/v1/templates").send().await.expect(200);
    let new = database.api_key("keyed_admin", &[]).await;
    proxy.request("GET", "/v1/templates").key(&new).send().await.expect(200);
    let wrong = database.nonexistent_key().await;
    proxy.request("GET", "/v1/templates").key(&wrong).send().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn known_key_is_authenticated_by_the_statement_of_its_request() {
    let Service { proxy, database } = counting(&[]).await;
    for _ in 0..20 {
        proxy.request("GET", "/v1/templates").send().await.expect(200);
    }
    let body = json!({"operations": []});
    for _ in 0..20 {
        proxy.request("POST", "/v1/entities/batch").json(&body).send().await.expect(200);
    }
    assert!(proxy.terminate().await.success());
    assert_eq!(calls(&database, "authenticate").await, 41, "one more for the first");
}

#[tokio::test]
async fn key_tried_before_its_issue_works_soon_after() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("begin").await;
    let key = session.text("select keyed.issue_api_key('keyed_admin')", &[]).await;
    ask(&service, &key).await.expect_error(401, "unauthorized");
    session.run("commit").await;
    until("the key is accepted", async || ask(&service, &key).await.status == 200).await;
}

#[tokio::test]
async fn failed_authentications_are_limited_without_blocking_valid_keys() {
    let service = Service::start_with(&[("KEYED_AUTH_FAILURES", "5")]).await;
    let known = service.proxy.key().to_owned();
    ask(&service, &known).await.expect(200);
    let mut rejected = 0;
    let last = loop {
        let response = ask(&service, "keyed_1_wrong").await;
        if response.status == 429 {
            break response;
        }
        response.expect_error(401, "unauthorized");
        rejected += 1;
    };
    assert!(rejected >= 5, "{rejected}");
    assert_rate_limited(last, "5");
    ask(&service, &known).await.expect(200);
    // Malformed keys do not count as guesses, so a new key is accepted.
    let new = service.database.api_key("keyed_admin", &[]).await;
    ask(&service, &new).await.expect(200);
}

#[tokio::test]
async fn address_that_guesses_keys_causes_no_lookups() {
    let service = Service::start_with(&[("KEYED_AUTH_FAILURES", "3")]).await;
    let known = service.proxy.key().to_owned();
    ask(&service, &known).await.expect(200);
    for _ in 0..3 {
        ask(&service, &service.database.nonexistent_key().await).await.expect_error(401, "unauthorized");
    }
    assert_rate_limited(ask(&service, &service.database.nonexistent_key().await).await, "3");
    ask(&service, &known).await.expect(200);
}

#[tokio::test]
async fn clients_behind_a_proxy_are_distinguished_by_forwarded_address() {
    let service = Service::start_with(&[("KEYED_AUTH_FAILURES", "2"), ("KEYED_TRUSTED_PROXIES", "1")]).await;
    let ask = |forwarded: &str| {
        let request = service.proxy.request("GET", "/v1/templates").key("keyed_1_wrong");
        request.header("x-forwarded-for", forwarded).send()
    };
    // Addresses that the caller itself adds in front are ignored.
    for made_up in ["10.0.0.1", "10.0.0.2"] {
        ask(&format!("{made_up}, 192.0.2.1")).await.expect_error(401, "unauthorized");
    }
    assert_rate_limited(ask("10.0.0.3, 192.0.2.1").await, "2");
    ask("192.0.2.1, 192.0.2.2").await.expect_error(401, "unauthorized");
    for host in 1..=2 {
        ask(&format!("2001:db8::{host}")).await.expect_error(401, "unauthorized");
    }
    assert_rate_limited(ask("2001:db8::3").await, "2");
    ask("2001:db8:0:1::1").await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn busy_key_does_not_slow_others() {
    let service = Service::start_with(&[("KEYED_KEY_RATE", "3")]).await;
    let other = service.database.api_key("keyed_admin", &[]).await;
    let mut responses = Vec::new();
    while responses.last().is_none_or(|response: &Response| response.status == 200) {
        responses.push(ask(&service, service.proxy.key()).await);
    }
    assert!(responses.len() > 3);
    assert_rate_limited(responses.pop().expect("one was rejected"), "3");
    ask(&service, &other).await.expect(200);
}

/// A request that waits until the table of customers is unlocked.
fn waiting(service: &Service, key: &str) -> tokio::task::JoinHandle<Response> {
    let body = json!({"filters": [{"field": "name", "operator": "eq", "value": "x"}]});
    let request = service.proxy.request("POST", "/v1/entities/search/customers").key(key).json(&body);
    tokio::spawn(request.send())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_searches_of_one_key_leave_connections_to_others() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "8"), ("KEYED_POOL_WAIT", "2")]).await;
    let session = service.session().await;
    session.run("begin; lock table crm.customers in access exclusive mode").await;
    let mut searches = JoinSet::new();
    for _ in 0..12 {
        searches.spawn(waiting(&service, service.proxy.key()));
    }
    // Requests over the key's connection limit get 429.
    for _ in 0..8 {
        let response = searches.join_next().await.expect("a task").expect("the request ends");
        assert_rate_limited(response.expect("the request ends"), "4");
    }
    let other = service.database.api_key("keyed_admin", &[]).await;
    let search = service.proxy.request("POST", "/v1/entities/search/companies").key(&other).json(&json!({}));
    search.send().await.expect(200);
    session.run("commit").await;
    searches.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_has_a_limit_of_concurrent_requests() {
    let service = Service::start_with(&[("KEYED_MAX_REQUESTS_PER_KEY", "2")]).await;
    let session = service.session().await;
    session.run("begin; lock table crm.customers in access exclusive mode").await;
    let searches = [waiting(&service, service.proxy.key()), waiting(&service, service.proxy.key())];
    service.session().await.until_blocked(2).await;
    assert_rate_limited(ask(&service, service.proxy.key()).await, "2");
    let other = service.database.api_key("keyed_admin", &[]).await;
    let search = service.proxy.request("POST", "/v1/entities/search/companies").key(&other).json(&json!({}));
    search.send().await.expect(200);
    session.run("commit").await;
    for search in searches {
        search.await.expect("the request ends").expect(200);
    }
    ask(&service, service.proxy.key()).await.expect(200);
}

#[tokio::test]
async fn key_is_checked_before_the_body_arrives() {
    let service = Service::start().await;
    let key = service.database.nonexistent_key().await;
    let json = "Content-Type: application/json\nContent-Length: 16000000";
    for (request, headers) in [
        ("POST /v1/entities/batch", json),
        ("POST /v1/entities/batch", "Content-Type: application/json\nTransfer-Encoding: chunked"),
        ("POST /v1/entities/template/customers/import", "Content-Type: text/csv\nContent-Length: 16000000"),
        ("POST /v1/entities/template/customers/export", json),
    ] {
        for key in [key.as_str(), "keyed_1_wrong", ""] {
            // Only the head is sent, and no body.
            let mut wire = Wire::begin(&service.proxy, request, key, headers).await;
            assert_eq!(status_of(&wire.response().await), 401, "{request}");
        }
    }
    for token in ["none", "in_4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"] {
        let request = format!("POST /v1/inbound/{token}");
        let mut wire = Wire::begin(&service.proxy, &request, "", json).await;
        assert_eq!(status_of(&wire.response().await), 404, "{token}");
    }
}

#[tokio::test]
async fn revoked_key_ends_a_large_upload() {
    let service = Service::start().await;
    let key = service.database.api_key("keyed_admin", &[]).await;
    ask(&service, &key).await.expect(200);
    service.session().await.run("select keyed.revoke_api_key(2)").await;
    // A cached authentication is repeated after it expires.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let headers = "Content-Type: application/json\nContent-Length: 16000000";
    let mut wire = Wire::begin(&service.proxy, "POST /v1/entities/batch", &key, headers).await;
    assert_eq!(status_of(&wire.response().await), 401);
}

#[tokio::test]
async fn invalid_signature_is_not_an_invalid_token() {
    let service = Service::start().await;
    let definition = json!({"slug": "shop", "template": "customers", "external_key": "$.id", "signed": true});
    let made = service.post("/inbound-endpoints", definition).await.expect(201);
    let response = service.deliver(&harness::Sender::of(&made), "{}").await;
    assert_eq!(response.header("www-authenticate"), "Bearer realm=\"keyed\"");
    response.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn delivery_to_a_removed_endpoint_is_rejected_before_its_body() {
    let service = Service::start().await;
    let definition =
        json!({"slug": "shop", "template": "customers", "external_key": "$.id", "signed": false});
    let sender = harness::Sender::of(&service.post("/inbound-endpoints", definition).await.expect(201));
    service.deliver(&sender, r#"{"id": "1"}"#).await.expect(200);
    service.delete("/inbound-endpoints/shop").await;
    service.deliver(&sender, r#"{"id": "1"}"#).await.expect_error(404, "not_found");
    let headers = "Content-Type: application/json\nContent-Length: 16000000";
    let request = format!("POST /v1/inbound/{}", sender.token);
    let mut wire = Wire::begin(&service.proxy, &request, "", headers).await;
    assert_eq!(status_of(&wire.response().await), 404);
}
