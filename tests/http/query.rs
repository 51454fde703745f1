//! Invalid paths, query strings and headers.

use harness::Service;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Sends raw bytes, and returns the status line, or nothing if the connection was closed.
async fn raw(service: &Service, request: &[u8]) -> String {
    let address = service.proxy.url("").replace("http://", "");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("the proxy listens");
    // The proxy may respond and close the connection before all bytes are sent.
    let _ = stream.write_all(request).await;
    let mut response = Vec::new();
    let read = tokio::time::timeout(harness::PATIENCE, stream.read_to_end(&mut response)).await;
    let shown = String::from_utf8_lossy(&request[..request.len().min(60)]);
    assert!(
        read.is_ok(),
        "the proxy did not close the connection after {shown:?}; it responded {response:?}"
    );
    String::from_utf8_lossy(&response).lines().next().unwrap_or_default().to_owned()
}

fn get(service: &Service, target: &str) -> Vec<u8> {
    let key = service.proxy.key();
    format!("GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nX-Service-Project-Id: crm\r\nConnection: close\r\n\r\n").into_bytes()
}

#[tokio::test]
async fn query_that_does_not_decode_is_malformed() {
    let service = Service::start().await;
    for query in
        ["key=%ED%A0%80", "key=%C0%80", "key=%FF", "key=%", "key=%4", "key=%zz", "%FF=x", "key=a%", "key=%C3"]
    {
        let path = format!("/entities/template/customers/by-key?{query}");
        let line = raw(&service, &get(&service, &format!("/v1{path}"))).await;
        assert!(line.starts_with("HTTP/1.1 400"), "{query}: {line}");
    }
}

#[tokio::test]
async fn unknown_path_is_not_found() {
    let service = Service::start().await;
    for target in [
        "/nothing",
        "/assets/none.js",
        "/assets/..%2F..%2Fetc%2Fpasswd",
        "/v1",
        "/v1/",
        "/v2/templates",
        "/v1/Templates",
        "/v1/templates/",
        "/v1//templates",
        "/v1/entities",
        "/v1/entities/a/b",
        "/v1/../v1/templates",
        "/v1/templates%2Fcustomers",
        "/v1/templates/..%2F..%2Fetc%2Fpasswd",
        "/v1/templates/%2e%2e",
        "/v1/templates/customers%00",
        "/.env",
        "/v1/templates;x=y",
    ] {
        let line = raw(&service, &get(&service, target)).await;
        assert!(line.starts_with("HTTP/1.1 404"), "{target}: {line}");
    }
    for target in ["/v1/templates/%FF", "/v1/entities/%C0%80", "/v1/entities/template/%ED%A0%80/by-key?key=x"]
    {
        let line = raw(&service, &get(&service, target)).await;
        assert!(line.starts_with("HTTP/1.1 400"), "{target}: {line}");
    }
}

#[tokio::test]
async fn invalid_http_gets_400_or_a_closed_connection() {
    let service = Service::start().await;
    let long = "x".repeat(1 << 20);
    for request in [
        "hello\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET /v1/templates HTTP/9.9\r\n\r\n".to_owned(),
        "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(),
        "POST /v1/templates HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n".to_owned(),
        "POST /v1/templates HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "POST /v1/templates HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
            .to_owned(),
        "GET /v1/templates HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n".to_owned(),
        format!("GET /v1/templates HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n"),
        format!("GET /v1/{long} HTTP/1.1\r\nHost: x\r\n\r\n"),
        "\x16\x03\x01\x02\x00\x01\x00".to_owned() + "\r\n\r\n",
    ] {
        let line = raw(&service, request.as_bytes()).await;
        let status = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let shown: String = request.chars().take(60).collect();
        assert!(["", "400", "404", "414", "431"].contains(&status.as_str()), "{shown:?}: {line}");
    }
    service.create(json!({})).await;
}

#[tokio::test]
async fn unknown_parameter_is_rejected() {
    let service = Service::start().await;
    let id = service.create(json!({})).await["id"].as_str().expect("an id").to_owned();
    for path in [
        format!("/entities/{id}?field=name"),
        format!("/entities/{id}?fields=name&fields=born"),
        "/templates?project=shop".to_owned(),
        "/templates/customers?verbose=true".to_owned(),
        format!("/entities/{id}?=x"),
    ] {
        service.get(&path).await.expect_error(400, "malformed_request");
    }
    service.delete(&format!("/entities/{id}?hard=true")).await.expect_error(400, "malformed_request");
    service.get(&format!("/entities/{id}?&&")).await.expect(200);
}

#[tokio::test]
async fn sql_in_a_parameter_is_not_executed() {
    let service = Service::start().await;
    let id = service.create(json!({"external_key": "A-1"})).await["id"].as_str().expect("an id").to_owned();
    for text in
        ["'; drop table crm.customers; --", "\" or 1=1 --", "$1", "%", "_", "\\", "\\\\%", "{}", "1 or 1=1"]
    {
        let text = harness::encode(text);
        for path in [
            format!("/entities/template/customers/by-key?key={text}"),
            format!("/entities/template/{text}/by-key?key=A-1"),
            format!("/entities/{text}"),
            format!("/entities/{id}?fields={text}"),
            format!("/entities/{id}/history?cursor={text}"),
            format!("/entities/{id}/metrics/{text}"),
            format!("/entities/{id}/metrics/mood?bucket={text}"),
            format!("/entities/{id}/metrics/mood?bucket=1h&aggregate={text}"),
            format!("/entities/{id}/metrics/mood?from={text}"),
            format!("/templates/{text}"),
        ] {
            let response = service.get(&path).await;
            assert!([404, 422].contains(&response.status), "{path}: {} {}", response.status, response.text);
        }
        let project = service.proxy.request("GET", "/v1/templates").project(&text).send().await;
        project.expect_error(404, "not_found");
    }
    service.by_key("A-1").await.expect(200);
}
