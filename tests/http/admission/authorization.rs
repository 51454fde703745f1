//! Authentication and privileges of requests.

use harness::{Response, Service, until};
use serde_json::{Value, json};

/// A role that may read customers, and its key.
async fn with_reader() -> (Service, String, String) {
    let service = Service::start().await;
    let role = service.database.create_role("reader").await;
    service.database.grant(&role, "crm.customers", "read").await;
    let key = service.database.api_key(&role, &["crm"]).await;
    (service, role, key)
}

async fn ask(service: &Service, key: &str) -> Response {
    service.proxy.request("GET", "/v1/templates").key(key).send().await
}

/// The parts of a response that a caller can compare; `instance` differs for each request.
fn without_instance(mut body: Value) -> Value {
    body.as_object_mut().map(|members| members.remove("instance"));
    body
}

#[tokio::test]
async fn request_without_a_key_gets_the_scheme_but_no_error_code() {
    let service = Service::start().await;
    let ways =
        [None, Some("Basic a2V5ZWQ6a2V5ZWQ="), Some("Bearer"), Some("Bearer "), Some("keyed_1_x"), Some("")];
    for header in ways {
        let mut request = service.proxy.request("GET", "/v1/templates").without_key();
        if let Some(header) = header {
            request = request.header("authorization", header);
        }
        let response = request.send().await;
        let challenge = response.header("www-authenticate").to_owned();
        assert!(challenge.starts_with("Bearer") && !challenge.contains("error"), "{header:?}: {challenge}");
        response.expect_error(401, "unauthorized");
    }
}

#[tokio::test]
async fn invalid_keys_get_the_same_response() {
    let (service, role, revoked) = with_reader().await;
    let expired = service.database.api_key(&role, &[]).await;
    ask(&service, &expired).await.expect(200);
    let expire =
        "update keyed_state.api_key set expires_at = clock_timestamp() + interval '1 second' where id = 3";
    service.session().await.run(expire).await;
    until("the key expires", async || ask(&service, &expired).await.status == 401).await;
    let gone = format!("leaver_{}", service.database.name());
    service.session().await.run(&format!("create role {gone}")).await;
    let orphaned = service.database.api_key(&gone, &[]).await;
    for key in [&revoked, &orphaned] {
        ask(&service, key).await.expect(200);
    }
    service.session().await.run(&format!("select keyed.revoke_api_key(2); drop role {gone}")).await;
    let mut bodies = Vec::new();
    for key in
        ["x", "keyed_1_x", "' or 1=1 --", "caf\u{e9}", &"k".repeat(4000), &expired, &revoked, &orphaned]
    {
        let response = ask(&service, key).await;
        assert!(response.header("www-authenticate").contains("error=\"invalid_token\""), "{key}");
        bodies.push(without_instance(response.expect_error(401, "unauthorized")));
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn revoked_key_is_denied_on_the_next_request() {
    let (service, _, key) = with_reader().await;
    for _ in 0..20 {
        ask(&service, &key).await.expect(200);
    }
    service.session().await.run("select keyed.revoke_api_key(2)").await;
    for _ in 0..20 {
        ask(&service, &key).await.expect_error(401, "unauthorized");
    }
}

#[tokio::test]
async fn scheme_is_read_in_any_case() {
    let service = Service::start().await;
    for scheme in ["bearer", "BEARER", "Bearer  "] {
        let header = format!("{scheme} {}", service.proxy.key());
        let request = service.proxy.request("GET", "/v1/templates").without_key();
        request.header("authorization", &header).send().await.expect(200);
    }
}

#[tokio::test]
async fn two_keys_in_one_request_are_rejected() {
    let (service, _, key) = with_reader().await;
    let request =
        service.proxy.request("GET", "/v1/templates").header("authorization", &format!("Bearer {key}"));
    let response = request.header("authorization", "Bearer x").without_key().send().await;
    response.expect_error(400, "malformed_request");
}

#[tokio::test]
async fn key_without_the_privilege_is_forbidden() {
    let (service, _, key) = with_reader().await;
    let record = service.create(json!({"external_key": "A-1"})).await;
    let id = harness::id_of(&record);
    service.proxy.request("GET", &format!("/v1/entities/{id}")).key(&key).send().await.expect(200);
    for (method, path, body) in [
        ("POST", "/v1/entities/template/customers".to_owned(), json!({})),
        ("PATCH", format!("/v1/entities/{id}"), json!({"attributes": {"name": "x"}})),
        ("PUT", format!("/v1/entities/{id}"), json!({"attributes": {}})),
        ("DELETE", format!("/v1/entities/{id}"), Value::Null),
        ("PUT", "/v1/entities/template/customers/by-key".to_owned(), json!({"external_key": "A-1"})),
        ("DELETE", "/v1/entities/template/customers/by-key?key=A-1".to_owned(), Value::Null),
        ("POST", "/v1/templates".to_owned(), json!({"slug": "x", "attributes": []})),
    ] {
        let mut request = service.proxy.request(method, &path).key(&key);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await;
        assert!(response.header("www-authenticate").contains("insufficient_scope"), "{method} {path}");
        response.expect_error(403, "forbidden");
    }
    service.get(&format!("/entities/{id}")).await.expect(200);
}

#[tokio::test]
async fn unreadable_template_is_not_listed() {
    let (service, _, key) = with_reader().await;
    let list = ask(&service, &key).await.expect(200);
    let slugs: Vec<&Value> =
        list["templates"].as_array().into_iter().flatten().map(|it| &it["slug"]).collect();
    assert_eq!(slugs, ["customers"]);
    assert_eq!(service.get("/templates").await.expect(200)["templates"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn logs_contain_no_key() {
    let service = Service::start_with(&[("KEYED_LOG", "debug")]).await;
    service.create(json!({})).await;
    service
        .post("/entities/template/customers", json!({"external_key": ""}))
        .await
        .expect_error(422, "invalid_external_key");
    let wrong = format!("{}x", service.proxy.key());
    ask(&service, &wrong).await.expect_error(401, "unauthorized");
    let secret = service.proxy.key().rsplit('_').next().unwrap_or_default();
    assert!(!service.proxy.whole_log().await.contains(secret), "the proxy's log");
    assert!(!service.database.cluster().log().contains(secret), "the server's log");
}

#[tokio::test]
async fn errors_reveal_no_attribute_to_a_caller_without_privileges() {
    let (service, ..) = with_reader().await;
    let role = service.database.create_role("stranger").await;
    let key = service.database.api_key(&role, &["crm"]).await;
    let record = service.create(json!({"external_key": "A-1"})).await;
    let wrong = json!({"external_key": "A-1", "attributes": {"zzz": 1}});
    for (method, path) in [
        ("POST", "/v1/entities/template/customers".to_owned()),
        ("PUT", "/v1/entities/template/customers/by-key".to_owned()),
        ("PATCH", format!("/v1/entities/{}", harness::id_of(&record))),
    ] {
        let response = service.proxy.request(method, &path).key(&key).json(&wrong).send().await;
        assert!(!response.text.contains("visits"), "{method} {path}: {}", response.text);
        response.expect_error(404, "not_found");
    }
    let operation =
        json!({"op": "upsert", "template": "customers", "external_key": "A-1", "attributes": {"zzz": 1}});
    let body = json!({"operations": [operation]});
    let response = service.proxy.request("POST", "/v1/entities/batch").key(&key).json(&body).send().await;
    assert!(!response.text.contains("visits"), "{}", response.text);
    let fields =
        service.proxy.request("GET", "/v1/entities/template/customers/by-key?key=A-1&fields=zzz").key(&key);
    fields.send().await.expect_error(404, "not_found");
}
