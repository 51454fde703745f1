//! The routes of webhook endpoints.

use harness::{Service, encode};
use serde_json::{Value, json};

fn definition() -> Value {
    json!({"slug": "shop", "url": "https://shop.example.com/hooks", "templates": ["customers"]})
}

#[tokio::test]
async fn endpoint_is_created_read_changed_and_removed() {
    let service = Service::start().await;
    let made = service.post("/webhook-endpoints", definition()).await;
    assert_eq!(made.header("location"), "/v1/webhook-endpoints/1");
    let made = made.expect(201);
    assert!(made["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")));
    let read = service.get("/webhook-endpoints/shop").await.expect(200);
    assert!(read.get("secret").is_none());
    assert_eq!(service.get("/webhook-endpoints/1").await.expect(200), read);
    assert_eq!(service.get("/webhook-endpoints").await.expect(200), json!({"endpoints": [read]}));
    let changes = json!({"slug": "store", "enabled": false, "operations": ["delete"]});
    let changed = service.patch("/webhook-endpoints/shop", changes).await.expect(200);
    assert_eq!((&changed["enabled"], &changed["operations"]), (&json!(false), &json!(["delete"])));
    assert!(changed.get("secret").is_none());
    service.get("/webhook-endpoints/shop").await.expect_error(404, "not_found");
    let page = service.get("/webhook-endpoints/store/deliveries?state=failed&limit=5").await.expect(200);
    assert_eq!(page, json!({"deliveries": [], "next_cursor": null}));
    service.delete("/webhook-endpoints/store").await.expect(204);
    service.get("/webhook-endpoints/store").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn invalid_request_is_rejected() {
    let service = Service::start().await;
    service.post("/webhook-endpoints", definition()).await.expect(201);
    service.post("/webhook-endpoints", definition()).await.expect_error(409, "conflict");
    let with = |name: &str, value: Value| {
        let mut definition = definition();
        definition["slug"] = json!("other");
        definition[name] = value;
        definition
    };
    for (name, value, code) in [
        ("url", json!("gopher://example.com"), "invalid_value"),
        ("url", json!("https://example.com:99999"), "invalid_value"),
        ("templates", json!(["nothing"]), "invalid_value"),
        ("operations", json!(["purge"]), "invalid_value"),
        ("filter", json!({"filters": []}), "invalid_value"),
        ("token", json!("x"), "unknown_field"),
    ] {
        let problem = service.post("/webhook-endpoints", with(name, value)).await.expect_error(422, code);
        let pointer = problem["errors"][0]["pointer"].as_str().unwrap_or_default();
        assert!(pointer.starts_with(&format!("/{name}")), "{problem}");
    }
    service.get("/webhook-endpoints/shop/deliveries?state=lost").await.expect_error(422, "invalid_value");
    service.get("/webhook-endpoints/shop/deliveries?limit=501").await.expect_error(422, "invalid_value");
    let id = encode("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    let replay = format!("/webhook-endpoints/shop/deliveries/{id}/replay");
    service.post(&replay, json!({})).await.expect_error(404, "not_found");
    service
        .post("/webhook-endpoints/shop/deliveries/1/replay", json!({}))
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn other_callers_cannot_read_endpoints() {
    let service = Service::start().await;
    service.post("/webhook-endpoints", definition()).await.expect(201);
    service.post("/webhook-endpoints/shop/test", json!({})).await.expect(202);
    let role = service.database.create_role("clerk").await;
    service.database.grant(&role, "crm", "read,create,update,delete,define").await;
    let key = service.database.api_key(&role, &[]).await;
    for (method, path) in [
        ("GET", "/v1/webhook-endpoints"),
        ("GET", "/v1/webhook-endpoints/shop"),
        ("GET", "/v1/webhook-endpoints/nothing"),
        ("GET", "/v1/webhook-endpoints/shop/deliveries"),
        ("GET", "/v1/webhook-endpoints/shop/deliveries/6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("POST", "/v1/webhook-endpoints/shop/test"),
        ("DELETE", "/v1/webhook-endpoints/shop"),
    ] {
        service.proxy.request(method, path).key(&key).send().await.expect_error(403, "forbidden");
    }
    // An administrator's key of another project cannot read the endpoint either.
    service.session().await.run("select keyed.create_project('other', 'Other')").await;
    let key = service.database.api_key("keyed_admin", &["other"]).await;
    let request = |path: &str| service.proxy.request("GET", path).key(&key).without_project();
    request("/v1/webhook-endpoints/1").send().await.expect_error(404, "not_found");
    assert_eq!(request("/v1/webhook-endpoints").send().await.expect(200), json!({"endpoints": []}));
}

#[tokio::test]
async fn secret_is_not_stored_for_a_repeated_request() {
    let service = Service::start().await;
    let create = || {
        let request = service.proxy.request("POST", "/v1/webhook-endpoints");
        request.header("idempotency-key", "\"once\"").json(&definition()).send()
    };
    let secret = create().await.expect(201)["secret"].as_str().expect("a secret").to_owned();
    let repeated = create().await.expect_error(409, "conflict");
    assert!(!repeated.to_string().contains(&secret));
    let stored = "select count(*) from keyed_state.idempotent_request r where r::text like '%whsec_%'";
    assert_eq!(service.session().await.text(stored, &[]).await, "0");
}
