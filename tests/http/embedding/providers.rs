//! Requests to an embedding provider, and the handling of its responses.

use harness::embeddings::{Reply, item, vector};
use harness::{EmbeddingServer, Response, Service};
use serde_json::{Value, json};
use std::time::Duration;

/// A service that uses this server to embed searches.
async fn service_with(server: &EmbeddingServer, more: &[(&str, &str)]) -> Service {
    let url = server.url();
    let settings = [
        ("KEYED_EMBED_PROVIDER", "openai"),
        ("KEYED_EMBED_URL", url.as_str()),
        ("KEYED_EMBED_MODEL", "test-model"),
        ("KEYED_EMBED_KEY", "sk-very-secret"),
    ];
    Service::start_with(&[&settings[..], more].concat()).await
}

async fn search(service: &Service, text: Value) -> Response {
    service.post("/entities/search/customers", json!({"query_text": text, "limit": 5})).await
}

#[tokio::test]
async fn provider_request_follows_the_openai_api() {
    let server = EmbeddingServer::start().await;
    let more = [("KEYED_EMBED_DIMENSIONS", "768"), ("KEYED_EMBED_QUERY_PREFIX", "search_query: ")];
    let service = service_with(&server, &more).await;
    search(&service, json!("pearl")).await.expect(200);
    let asked = &server.requests()[0];
    assert_eq!(
        (asked.path.as_str(), asked.authorization.as_str()),
        ("/v1/embeddings", "Bearer sk-very-secret")
    );
    assert_eq!(
        asked.body,
        json!({"model": "test-model", "input": ["search_query: pearl"], "encoding_format": "float", "dimensions": 768})
    );
}

#[tokio::test]
async fn transient_provider_error_is_retried() {
    for status in [429, 500, 502, 503] {
        let server = EmbeddingServer::start_with(move |question| match question.number {
            0 => Reply::status(status).retry_after("1"),
            _ => Reply::success(question),
        })
        .await;
        let service = service_with(&server, &[]).await;
        search(&service, json!("pearl")).await.expect(200);
        let asked = server.requests();
        assert_eq!(asked.len(), 2, "{status}");
        assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "the client honors Retry-After");
    }
}

#[tokio::test]
async fn provider_failure_is_503() {
    for (reply, pause, timeout) in [
        (Reply::status(500), 1..=3, "60"),
        (Reply::status(429).retry_after("3600"), 3600..=4502, "60"),
        (Reply::body("late").after(Duration::from_secs(60)), 1..=3, "0.3"),
    ] {
        let expected_reply = reply.clone();
        let server = EmbeddingServer::start_with(move |_| reply.clone()).await;
        let service = service_with(&server, &[("KEYED_EMBED_TIMEOUT", timeout)]).await;
        let response = search(&service, json!("pearl")).await;
        let seconds: u64 = response.header("retry-after").parse().expect("a number of seconds");
        assert!(pause.contains(&seconds), "{expected_reply:?}: {seconds}");
        let problem = response.expect_error(503, "unavailable");
        let is_busy = problem["detail"].as_str().is_some_and(|it| it.contains("is overloaded"));
        assert_eq!(
            (is_busy, &problem["retryable"]),
            (expected_reply.status == 429, &json!(true)),
            "{expected_reply:?}"
        );
        assert!(service.proxy.whole_log().await.contains("request failed"), "{expected_reply:?}");
    }
}

#[tokio::test]
async fn misconfigured_provider_is_reported_as_not_retryable() {
    let short = format!("{{\"data\":[{}]}}", item(0, "[1,2,3]"));
    for (reply, says) in [
        (Reply::status(401), "rejects this service"),
        (Reply::status(404), "rejects this service"),
        (Reply::body("<html>welcome</html>"), "rejects this service"),
        (Reply::body(""), "rejects this service"),
        (Reply::body("{}"), "rejects this service"),
        (Reply::body(&short), "the model returns vectors of 3 numbers instead of 768"),
        (Reply::of(&[]), "rejects this service"),
        (Reply::of(&[item(0, &vector(1)), item(1, &vector(2))]), "rejects this service"),
        (Reply::of(&[item(3, &vector(1))]), "rejects this service"),
    ] {
        let expected_reply = reply.clone();
        let server = EmbeddingServer::start_with(move |_| reply.clone()).await;
        let service = service_with(&server, &[]).await;
        let response = search(&service, json!("pearl")).await;
        assert_eq!(response.header("retry-after"), "", "{expected_reply:?}");
        let problem = response.expect_error(500, "internal");
        assert!(
            problem["detail"].as_str().is_some_and(|it| it.contains(says)),
            "{expected_reply:?}: {problem}"
        );
        assert_eq!(problem["retryable"], false);
        assert!(service.proxy.whole_log().await.contains("request failed"), "{expected_reply:?}");
    }
}

#[tokio::test]
async fn text_without_a_vector_is_rejected() {
    let zeros = format!("[{}]", ["0"; 768].join(","));
    let nan = zeros.replacen('0', "NaN", 1);
    let null = zeros.replacen('0', "null", 1);
    for reply in [
        Reply::status(400),
        Reply::of(&[item(0, &zeros)]),
        Reply::of(&[item(0, &nan)]),
        Reply::of(&[item(0, &null)]),
    ] {
        let expected_reply = reply.clone();
        let server = EmbeddingServer::start_with(move |_| reply.clone()).await;
        let service = service_with(&server, &[]).await;
        let problem = search(&service, json!("pearl")).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/query_text", "{expected_reply:?}");
        assert_eq!(server.requests().len(), 1, "a retry would not help: {expected_reply:?}");
    }
}

#[tokio::test]
async fn provider_key_is_not_disclosed() {
    let server = EmbeddingServer::start_with(|question| Reply {
        status: 401,
        ..Reply::body(&format!("wrong key: {}", question.authorization))
    })
    .await;
    let service = service_with(&server, &[("KEYED_LOG", "trace")]).await;
    let response = search(&service, json!("pearl")).await;
    assert!(!response.text.contains("very-secret"), "{}", response.text);
    response.expect_error(500, "internal");
    let log = service.proxy.whole_log().await;
    assert!(log.contains("wrong key"), "the log has the reason: {log}");
    assert!(!log.contains("very-secret"), "{log}");
}

#[tokio::test]
async fn text_without_a_provider_is_rejected_with_a_hint() {
    let service = Service::start().await;
    let problem = search(&service, json!("pearl")).await.expect_error(422, "invalid_value");
    assert!(
        problem["detail"].as_str().is_some_and(|detail| detail.contains("KEYED_EMBED_PROVIDER")),
        "{problem}"
    );
    assert_eq!(problem["errors"][0]["pointer"], "/query_text");
}

#[tokio::test]
async fn provider_is_called_only_for_valid_keys() {
    let server = EmbeddingServer::start().await;
    let service = service_with(&server, &[]).await;
    let request = service.proxy.request("POST", "/v1/entities/search/customers").key("keyed_1_wrong");
    request.json(&json!({"query_text": "pearl"})).send().await.expect_error(401, "unauthorized");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn query_text_must_be_a_string() {
    let server = EmbeddingServer::start().await;
    let service = service_with(&server, &[]).await;
    for text in [json!(1), json!(["pearl"]), json!(""), json!("  "), json!("x".repeat(8001))] {
        let problem = search(&service, text).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/query_text");
    }
    let both = json!({"query_text": "pearl", "query_vector": [1, 2]});
    service.post("/entities/search/customers", both).await.expect_error(422, "invalid_value");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn keyword_search_requests_no_vector() {
    let server = EmbeddingServer::start().await;
    for service in [service_with(&server, &[]).await, Service::start().await] {
        for body in [
            json!({"query_text": "pearl", "mode": "keyword", "global_search": "pearl"}),
            json!({"query_text": null}),
            json!({"query_text": null, "mode": "keyword", "sort": "name"}),
        ] {
            service.post("/entities/search/customers", body).await.expect(200);
        }
    }
    assert_eq!(server.requests().len(), 0);
    let service = service_with(&server, &[]).await;
    let body = json!({"query_text": "pearl", "query_vector": null});
    service.post("/entities/search/customers", body).await.expect(200);
    assert_eq!(server.inputs(), ["pearl"]);
}

#[tokio::test]
async fn provider_is_called_only_for_valid_requests() {
    let server = EmbeddingServer::start().await;
    let service = service_with(&server, &[]).await;
    let role = service.database.create_role("reader").await;
    service.database.grant(&role, "crm.companies", "read").await;
    let reader = service.database.api_key(&role, &["crm"]).await;
    let path = "/v1/entities/search/customers";
    let ask =
        |path: &str, key: &str, body: Value| service.proxy.request("POST", path).key(key).json(&body).send();
    let key = service.proxy.key();
    // A caller without privileges gets the error of a missing template.
    let response = ask(path, &reader, json!({"query_text": "a"})).await;
    assert!([403, 404].contains(&response.status), "{}", response.text);
    ask("/v1/entities/search/none", key, json!({"query_text": "a"})).await.expect_error(404, "not_found");
    ask(path, key, json!({"query_text": "a", "limit": 0})).await.expect_error(422, "invalid_value");
    ask(path, key, json!({"query_text": "a", "fields": ["none"]})).await.expect_error(422, "unknown_field");
    let semantic = "/v1/entities/semantic-search";
    let response = ask(semantic, &reader, json!({"query_text": "a", "template_id": "customers"})).await;
    assert!([403, 404].contains(&response.status), "{}", response.text);
    ask(semantic, key, json!({"query_text": "a", "threshold": 2})).await.expect_error(422, "invalid_value");
    assert_eq!(server.requests().len(), 0);
    ask(path, key, json!({"query_text": "a"})).await.expect(200);
    ask(semantic, key, json!({"query_text": "a", "template_id": "customers"})).await.expect(200);
    assert_eq!(server.requests().len(), 2);
}
