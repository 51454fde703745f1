//! Invalid bodies are rejected early, and the service continues.

use harness::{Service, Session, processor_time};
use serde_json::json;
use std::time::Duration;

const CREATE: &str = "/entities/template/customers";

/// The CPU time that the proxy and its sessions have used.
async fn used(service: &Service, session: &Session) -> Duration {
    let sessions =
        "select pid from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database()";
    let sessions = session.rows(sessions, &[]).await.into_iter().flatten().flatten();
    service.proxy.processor_time() + sessions.map(processor_time).sum::<Duration>()
}

#[tokio::test]
async fn invalid_json_is_malformed() {
    let service = Service::start().await;
    for body in [
        "{",
        "}",
        "{\"attributes\": {}",
        "{\"attributes\": {}}}",
        "{} {}",
        "{}x",
        "[]",
        "1",
        "\"x\"",
        "null",
        "true",
        " ",
        "nul",
        "\u{feff}{}",
        "{'attributes': {}}",
        "{attributes: {}}",
        "{\"attributes\": {},}",
        "{\"attributes\": {\"name\": \"a\nb\"}}",
        "{\"attributes\": {\"name\": NaN}}",
        "// comment\n{}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"\\u12\"}",
        "attributes=1",
        "<a/>",
        "{\"attributes\": {\"name\": \"\\ud800\"}}",
        "\u{0}",
        "{\"a\u{0}\": 1}",
    ] {
        service.send_text("POST", CREATE, body).await.expect_error(400, "malformed_request");
        // A template's attributes are an array, which is checked before members of objects.
        if !body.contains("ud800") {
            service.send_text("POST", "/templates", body).await.expect_error(400, "malformed_request");
        }
    }
    for bytes in [&b"{\"attributes\": {\"name\": \"\xff\"}}"[..], b"\xff\xfe{\0}\0", b"\xed\xa0\x80"] {
        service.send_text("POST", CREATE, bytes).await.expect_error(400, "malformed_request");
    }
}

#[tokio::test]
async fn missing_body_is_malformed() {
    let service = Service::start().await;
    for (method, path) in
        [("POST", CREATE), ("PUT", "/entities/template/customers/by-key"), ("POST", "/templates")]
    {
        let bare = service.proxy.request(method, &format!("/v1{path}")).send().await;
        bare.expect_error(400, "malformed_request");
        service.send_text(method, path, "").await.expect_error(400, "malformed_request");
    }
}

#[tokio::test]
async fn unknown_member_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    let id = service.create(json!({})).await["id"].as_str().expect("an id").to_owned();
    for (method, path, known) in [
        ("POST", CREATE.to_owned(), "external_key"),
        ("PUT", "/entities/template/customers/by-key".to_owned(), "external_key"),
        ("PATCH", format!("/entities/{id}"), "external_key"),
        ("PUT", format!("/entities/{id}"), "attributes"),
    ] {
        let value = if known == "attributes" { json!({}) } else { json!("x") };
        let body = json!({known: value, "atributes": {}}).to_string();
        let error = service.send_text(method, &path, body).await.expect_error(422, "unknown_field");
        assert_eq!(error["errors"][0]["pointer"], "/atributes", "{method} {path}");
    }
}

#[tokio::test]
async fn body_of_another_type_is_not_read() {
    let service = Service::start().await;
    for content_type in [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "application/json; charset=latin1",
        "application/xml",
        "",
        "json",
    ] {
        let request = service.proxy.request("POST", &format!("/v1{CREATE}")).body(content_type, "{}");
        request.send().await.expect_error(415, "unsupported_media_type");
    }
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/merge-patch+json",
    ] {
        let request = service.proxy.request("POST", &format!("/v1{CREATE}")).body(content_type, "{}");
        request.send().await.expect(201);
    }
}

#[tokio::test]
async fn compressed_body_is_not_decompressed() {
    let service = Service::start().await;
    for encoding in ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x"] {
        let request =
            service.proxy.request("POST", &format!("/v1{CREATE}")).header("content-encoding", encoding);
        let response = request.body("application/json", &b"\x1f\x8b\x08\x00bomb"[..]).send().await;
        response.expect_error(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn body_over_the_limit_is_too_large_whether_announced_or_not() {
    let service = Service::start_with(&[("KEYED_BODY_LIMIT", "64KiB")]).await;
    let body = |length: usize| format!("{{\"attributes\": {{\"name\": \"{}\"}}}}", "x".repeat(length));
    // Without Content-Length, the body arrives in chunks.
    let chunked = |length: usize| {
        let chunks: Vec<_> =
            body(length).as_bytes().chunks(1000).map(<[u8]>::to_vec).map(std::io::Result::Ok).collect();
        reqwest::Body::wrap_stream(futures_util::stream::iter(chunks))
    };
    service.send_text("POST", CREATE, body(60_000)).await.expect(201);
    service.send_text("POST", CREATE, chunked(60_000)).await.expect(201);
    service.send_text("POST", CREATE, body(70_000)).await.expect_error(413, "payload_too_large");
    service.send_text("POST", CREATE, chunked(70_000)).await.expect_error(413, "payload_too_large");
    service.create(json!({})).await;
}

#[tokio::test]
async fn deep_nesting_is_rejected_early() {
    let service = Service::start().await;
    let session = service.session().await;
    let started = session.text("select pg_postmaster_start_time()", &[]).await;
    let arrays = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for deep in [arrays, objects, "[".repeat(200_000), "{\"a\":".repeat(200_000)] {
        for body in [
            deep.clone(),
            format!("{{\"attributes\": {deep}}}"),
            format!("{{\"attributes\": {{\"name\": {deep}}}}}"),
            format!("{{\"attributes\": {{\"tags\": [{deep}]}}}}"),
            format!("{{\"attributes\": {{\"company\": {{\"external_key\": {deep}}}}}}}"),
            format!("{{\"attributes\": {{\"visits\": {{\"$inc\": {deep}}}}}}}"),
            format!("{{\"external_key\": {deep}}}"),
            format!("{{\"unknown\": {deep}}}"),
        ] {
            let before = used(&service, &session).await;
            let response = service.send_text("POST", CREATE, body).await;
            assert!([400, 422].contains(&response.status), "{}", response.text);
            let used = used(&service, &session).await.saturating_sub(before);
            assert!(used < Duration::from_secs(2), "{used:?} of a processor");
        }
        let template = format!(
            "{{\"slug\": \"x\", \"attributes\": [{{\"slug\": \"a\", \"type\": \"list\", \"default\": {deep}}}]}}"
        );
        let response = service.send_text("POST", "/templates", template).await;
        assert!([400, 422].contains(&response.status), "{}", response.text);
    }
    assert_eq!(session.text("select pg_postmaster_start_time()", &[]).await, started);
    service.database.cluster().assert_no_crash();
}

#[tokio::test]
async fn body_with_many_members_is_rejected_early() {
    let service = Service::start().await;
    let session = service.session().await;
    let members: Vec<String> = (0..100_000).map(|n| format!("\"a{n}\": {n}")).collect();
    let same: Vec<String> = (0..100_000).map(|n| format!("\"name\": \"{n}\"")).collect();
    for (members, status) in [(members, 422), (same, 201)] {
        let body = format!("{{\"attributes\": {{{}}}}}", members.join(", "));
        let before = used(&service, &session).await;
        let response = service.send_text("POST", CREATE, body).await;
        assert_eq!(response.status, status);
        let used = used(&service, &session).await.saturating_sub(before);
        assert!(used < Duration::from_secs(2), "{used:?} of a processor");
        assert!(response.text.len() < 1 << 20, "an answer of {} bytes", response.text.len());
    }
}

#[tokio::test]
async fn missing_body_times_out_without_affecting_others() {
    let settings =
        [("KEYED_REQUEST_TIMEOUT", "10"), ("KEYED_STATEMENT_TIMEOUT", "8"), ("KEYED_POOL_SIZE", "2")];
    let service = Service::start_with(&settings).await;
    let slow: Vec<_> = (0..40)
        .map(|_| {
            let beginning = std::io::Result::Ok(b"{\"attributes\":".to_vec());
            let chunks = futures_util::StreamExt::chain(
                futures_util::stream::iter([beginning]),
                futures_util::stream::pending(),
            );
            let request = service.proxy.request("POST", &format!("/v1{CREATE}"));
            tokio::spawn(request.body("application/json", reqwest::Body::wrap_stream(chunks)).send())
        })
        .collect();
    for _ in 0..20 {
        service.create(json!({})).await;
    }
    assert!(!slow.iter().any(tokio::task::JoinHandle::is_finished), "others waited for them");
    for request in slow {
        request.await.expect("the request ends").expect_error(408, "request_timeout");
    }
}
