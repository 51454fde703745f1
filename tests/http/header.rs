//! Request heads that intermediaries could parse differently.

use harness::{Service, Wire, status_of};

/// The status of the response to a request with these lines.
async fn ask(service: &Service, lines: &[&str]) -> u16 {
    let mut wire = Wire::open(service.proxy.address()).await;
    let authorization = format!("Authorization: Bearer {}", service.proxy.key());
    let head = lines.iter().copied().chain([authorization.as_str(), "", ""]).collect::<Vec<_>>();
    wire.send(head.join("\r\n").as_bytes()).await.expect("the head fits into the buffers");
    status_of(&wire.response().await)
}

#[tokio::test]
async fn ambiguous_request_headers_are_rejected() {
    let service = Service::start().await;
    let (me, batch) = ("GET /v1/me HTTP/1.1", "POST /v1/entities/batch HTTP/1.1");
    let (host, json) = ("Host: keyed", "Content-Type: application/json");
    let mut statuses = Vec::new();
    for lines in [
        &[me, host][..],
        &["GET /v1/me HTTP/1.0"],
        &[me],
        &[me, host, host],
        &[me, "Host: a b"],
        &[batch, host, json, "Transfer-Encoding: gzip, chunked"],
        &[batch, host, json, "Content-Type: text/csv", "Content-Length: 0"],
    ] {
        statuses.push(ask(&service, lines).await);
    }
    assert_eq!(statuses, [200, 200, 400, 400, 400, 400, 400]);
}

#[tokio::test]
async fn long_parameter_name_is_not_echoed() {
    let service = Service::start().await;
    let response = service.get(&format!("/me?{}=1", "x".repeat(30_000))).await;
    assert!(response.text.len() < 1000, "{}", response.text.len());
    response.expect_error(400, "malformed_request");
}
