//! What every answer has in common, and the routes that watch over the service.

use harness::{Service, id_of};
use serde_json::json;

#[tokio::test]
async fn every_answer_carries_the_id_of_its_request() {
    let service = Service::start().await;
    let id = "0192f0c1-2222-7abc-8def-0123456789ab";
    for path in ["/v1/templates", "/v1/entities/x", "/healthz", "/nowhere"] {
        let answer = service.proxy.request("GET", path).header("x-request-id", id).send().await;
        assert_eq!(answer.header("x-request-id"), id, "{path}");
        if answer.status >= 400 {
            assert_eq!(answer.body["instance"], format!("urn:uuid:{id}"), "{path}");
        }
        let own = service.proxy.request("GET", path).send().await;
        assert_eq!(own.header("x-request-id").len(), 36, "{path}");
        let odd = service.proxy.request("GET", path).header("x-request-id", "<script>").send().await;
        assert_ne!(odd.header("x-request-id"), "<script>", "{path}");
        assert_eq!(odd.header("x-content-type-options"), "nosniff", "{path}");
    }
}

#[tokio::test]
async fn a_method_that_an_address_does_not_take_is_told_which_it_does() {
    let service = Service::start().await;
    for (method, path, allowed) in [
        ("POST", "/v1/entities/x", vec!["GET", "PATCH", "PUT", "DELETE"]),
        ("GET", "/v1/entities/template/customers", vec!["POST"]),
        ("PATCH", "/v1/entities/template/customers/by-key", vec!["GET", "PUT", "DELETE"]),
        ("DELETE", "/v1/templates", vec!["GET", "POST"]),
    ] {
        let answer = service.proxy.request(method, path).send().await;
        let allow = answer.header("allow").to_owned();
        assert!(allowed.iter().all(|method| allow.contains(method)), "{method} {path}: {allow}");
        answer.refused(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn a_large_answer_is_packed_for_those_who_can_unpack_it() {
    let service = Service::start().await;
    let record = service.create(json!({"attributes": {"name": "x".repeat(100_000)}})).await;
    let path = format!("/v1/entities/{}", id_of(&record));
    let plain = service.proxy.request("GET", &path).send().await;
    assert_eq!((plain.header("content-encoding"), plain.text.len() > 100_000), ("", true));
    let packed = service.proxy.request("GET", &path).header("accept-encoding", "gzip").response().await;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert!(packed.bytes().await.expect("a body").len() < 10_000);
}

#[tokio::test]
async fn health_and_readiness_need_no_key() {
    let service = Service::start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = service.proxy.request("GET", path).without_key().without_project().send().await;
        assert_eq!(answer.header("content-type"), "application/json");
        answer.expect(200);
    }
}

#[tokio::test]
async fn a_template_made_or_changed_in_sql_is_known_to_every_pooled_connection_at_once() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "6")]).await;
    let session = service.session().await;
    // Every connection of the pool remembers the template.
    let ask = async || {
        let requests =
            (0..24).map(|_| tokio::spawn(service.proxy.request("GET", "/v1/templates/customers").send()));
        let mut answers = Vec::new();
        for request in requests.collect::<Vec<_>>() {
            answers.push(request.await.expect("the request ends").expect(200));
        }
        answers
    };
    ask().await;
    session.run("alter table crm.customers drop column tags").await;
    for template in ask().await {
        assert_eq!(template["attributes"].as_array().map(Vec::len), Some(7));
    }
    service.post("/entities/template/orders", json!({})).await.refused(404, "not_found");
    session.run("select keyed.create_template('crm', 'orders')").await;
    for _ in 0..12 {
        service.post("/entities/template/orders", json!({})).await.expect(201);
    }
}
