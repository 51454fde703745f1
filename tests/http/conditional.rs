//! ETag, If-Match and If-None-Match.

use harness::{Request, Response, Service, id_of};
use serde_json::{Value, json};

const BY_KEY: &str = "/v1/entities/template/customers/by-key";

async fn with_record() -> (Service, String, String) {
    let service = Service::start().await;
    let response = service
        .post(
            "/entities/template/customers",
            json!({"external_key": "K", "attributes": {"name": "Ada", "visits": 1}}),
        )
        .await;
    let tag = response.header("etag").to_owned();
    let path = format!("/v1/entities/{}", id_of(&response.expect(201)));
    (service, path, tag)
}

async fn etag(service: &Service, path: &str) -> String {
    let response = service.proxy.request("GET", path).send().await;
    let tag = response.header("etag").to_owned();
    response.expect(200);
    tag
}

#[tokio::test]
async fn responses_with_a_record_have_its_etag() {
    let (service, path, created) = with_record().await;
    assert!(created.len() == 34 && created.starts_with('"') && created.ends_with('"'), "{created}");
    assert_eq!(etag(&service, &path).await, created);
    assert_eq!(etag(&service, &format!("{BY_KEY}?key=K")).await, created);
    assert_eq!(etag(&service, &format!("{path}?fields=name")).await, created);
    assert_eq!(service.proxy.request("HEAD", &path).send().await.header("etag"), created);
    let upsert = json!({"external_key": "K", "attributes": {"visits": {"$inc": 1}}});
    for (method, path_of, body) in [
        ("PATCH", path.clone(), json!({"attributes": {"name": "Bea"}})),
        ("PATCH", path.clone(), json!({})),
        ("PUT", path.clone(), json!({"attributes": {"name": "Cleo"}})),
        ("PUT", format!("{BY_KEY}?return=record"), upsert.clone()),
    ] {
        let response = service.proxy.request(method, &path_of).json(&body).send().await;
        assert_eq!(response.header("etag"), etag(&service, &path).await, "{method} {path_of}");
        assert_eq!(response.status, 200, "{}", response.text);
    }
    let plain = service.proxy.request("PUT", BY_KEY).json(&upsert).send().await;
    assert_eq!((plain.status, plain.header("etag")), (200, ""), "this response contains no record");
    service.proxy.request("DELETE", &path).send().await.expect(204);
    let deleted = etag(&service, &format!("{path}?include_deleted=1")).await;
    let restored = service.proxy.request("POST", &format!("{path}/restore")).send().await;
    assert_ne!(restored.header("etag"), deleted);
    assert_eq!(restored.header("etag"), etag(&service, &path).await);
}

#[tokio::test]
async fn current_etag_gets_304() {
    let (service, path, tag) = with_record().await;
    let read =
        |path: &str, tags: &str| service.proxy.request("GET", path).header("if-none-match", tags).send();
    for path in [path.clone(), format!("{BY_KEY}?key=K"), format!("{path}?fields=name")] {
        for tags in [tag.clone(), format!("W/{tag}"), format!("\"a\", {tag}"), "*".to_owned()] {
            let response = read(&path, &tags).await;
            assert_eq!(
                (response.status, response.text.as_str(), response.header("etag")),
                (304, "", tag.as_str()),
                "{tags}"
            );
        }
        for tags in ["\"a\"", "W/\"a\", \"b\""] {
            assert_eq!(read(&path, tags).await.expect(200)["external_key"], "K");
        }
        read(&path, "\"a").await.expect_error(400, "malformed_request");
    }
    read(&format!("{path}x"), "*").await.expect_error(404, "not_found");
    service.upsert("K", json!({"name": "Bea"})).await.expect(200);
    read(&path, &tag).await.expect(200);
}

#[tokio::test]
async fn etag_of_a_verbose_response_covers_targets() {
    let (service, path, _) = with_record().await;
    let company = json!({"external_key": "C", "attributes": {"name": "ACME"}});
    service.put("/entities/template/companies/by-key", company).await.expect(201);
    service.upsert("K", json!({"company": {"external_key": "C"}})).await.expect(200);
    let verbose = format!("{path}?verbose=true");
    let (plain, before) = (etag(&service, &path).await, etag(&service, &verbose).await);
    assert_ne!(plain, before);
    let read = |path: &str, tag: &str| service.proxy.request("GET", path).header("if-none-match", tag).send();
    assert_eq!(read(&verbose, &before).await.status, 304);
    assert_eq!(read(&verbose, &plain).await.status, 200, "another answer than that of the plain record");

    let company = json!({"external_key": "C", "attributes": {"name": "Globex"}});
    service.put("/entities/template/companies/by-key", company).await.expect(200);
    let response = read(&verbose, &before).await.expect(200);
    assert_eq!(response["attribute_values"]["company"]["display"], "Globex");
    assert_eq!(read(&path, &plain).await.status, 304, "the record itself did not change");
    // A changed target does not prevent a conditional write.
    let patch = service.proxy.request("PATCH", &path).header("if-match", &before);
    patch.json(&json!({"attributes": {"name": "Bea"}})).send().await.expect(200);
}

#[tokio::test]
async fn compressed_response_has_its_own_etag() {
    let (service, path, _) = with_record().await;
    service.upsert("K", json!({"name": "Ada ".repeat(1000)})).await.expect(200);
    let plain = etag(&service, &path).await;
    let get = || service.proxy.request("GET", &path).header("accept-encoding", "gzip");
    let packed = get().response().await;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    let packed = packed.headers()["etag"].to_str().expect("a text").to_owned();
    assert_eq!(packed, format!("{}-gzip\"", plain.trim_end_matches('"')));
    for tag in [&packed, &plain] {
        let again = get().header("if-none-match", tag).send().await;
        assert_eq!((again.status, again.header("etag")), (304, tag.as_str()));
    }
    let patch = service.proxy.request("PATCH", &path).header("if-match", &packed);
    patch.json(&json!({"attributes": {"visits": 2}})).send().await.expect(200);
}

/// Every write that accepts a precondition, with its body.
fn writes(path: &str) -> Vec<(&'static str, String, Value)> {
    let vector = json!({"vector": vec![0.5; 768]});
    vec![
        ("PATCH", path.to_owned(), json!({"attributes": {"visits": {"$inc": 1}}})),
        ("PATCH", path.to_owned(), json!({"external_key": "L"})),
        ("PUT", path.to_owned(), json!({"visits": 7})),
        ("PUT", BY_KEY.to_owned(), json!({"external_key": "K", "attributes": {"visits": {"$inc": 1}}})),
        (
            "PUT",
            format!("{BY_KEY}?mode=update&return=record"),
            json!({"external_key": "K", "attributes": {"visits": 9}}),
        ),
        ("PUT", format!("{path}/embedding"), vector),
        ("DELETE", format!("{path}/embedding"), Value::Null),
        ("DELETE", format!("{BY_KEY}?key=K"), Value::Null),
        ("DELETE", path.to_owned(), Value::Null),
    ]
}

fn request(service: &Service, method: &str, path: &str, body: &Value) -> Request {
    let request = service.proxy.request(method, path);
    if body.is_null() { request } else { request.json(body) }
}

#[tokio::test]
async fn if_match_writes_only_to_its_version() {
    let (service, path, _) = with_record().await;
    for (method, target, body) in writes(&path) {
        let before = service.proxy.request("GET", &path).send().await;
        let tag = before.header("etag").to_owned();
        for other in ["\"0123\"".to_owned(), format!("W/{tag}")] {
            let response = request(&service, method, &target, &body).header("if-match", &other).send().await;
            let error = response.expect_error(412, "precondition_failed");
            assert_eq!(error["retryable"], false);
        }
        request(&service, method, &target, &body)
            .header("if-match", "\"")
            .send()
            .await
            .expect_error(400, "malformed_request");
        let held = request(&service, method, &target, &body).header("if-none-match", "*").send().await;
        held.expect_error(412, "precondition_failed");
        assert_eq!(service.proxy.request("GET", &path).send().await.text, before.text, "{method} {target}");
        let response = request(&service, method, &target, &body)
            .header("if-match", &format!("\"x\", {tag}"))
            .send()
            .await;
        assert!((200..300).contains(&response.status), "{method} {target}: {}", response.text);
        // After any outcome, the next request finds the record by its key again.
        if service.by_key("K").await.status == 404 {
            let deleted = etag(&service, &format!("{path}?include_deleted=true")).await;
            let (method, target, body) = match service.by_key("L").await.status {
                200 => ("PATCH", path.clone(), json!({"external_key": "K"})),
                _ => ("POST", format!("{path}/restore"), json!({})),
            };
            let stale = request(&service, method, &target, &body).header("if-match", &tag).send().await;
            stale.expect_error(412, "precondition_failed");
            request(&service, method, &target, &body).header("if-match", &deleted).send().await.expect(200);
        }
    }
}

#[tokio::test]
async fn preconditions_limit_upserts_to_create_or_update() {
    let (service, _, tag) = with_record().await;
    let upsert = |key: &str, header: &str, tags: &str| {
        let body = json!({"external_key": key, "attributes": {"name": "x"}});
        service.proxy.request("PUT", BY_KEY).header(header, tags).json(&body).send()
    };
    let taken = upsert("K", "if-none-match", "*").await.expect_error(412, "precondition_failed");
    assert_eq!(taken["hint"], "Omit If-None-Match to update the record.");
    for tags in ["*", &tag] {
        let missing = upsert("N", "if-match", tags).await.expect_error(412, "precondition_failed");
        assert_eq!(missing["hint"], "Omit If-Match to create the record.");
    }
    assert_eq!(upsert("N", "if-none-match", "*").await.expect(201)["created"], true);
    upsert("N", "if-none-match", "*").await.expect_error(412, "precondition_failed");
    assert_eq!(upsert("K", "if-match", &tag).await.expect(200)["created"], false);
    upsert("K", "if-match", &tag).await.expect_error(412, "precondition_failed");
    let missing = service.proxy.request("PUT", &format!("{BY_KEY}?mode=update")).header("if-match", "*");
    missing.json(&json!({"external_key": "M"})).send().await.expect_error(404, "not_found");
    let held = service.proxy.request("PUT", &format!("{BY_KEY}?mode=create")).header("if-match", "*");
    held.json(&json!({"external_key": "K"})).send().await.expect_error(409, "external_key_taken");
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "2");
}

#[tokio::test]
async fn missing_record_is_not_found_with_any_precondition() {
    let (service, path, tag) = with_record().await;
    service.proxy.request("DELETE", &path).send().await.expect(204);
    for (method, target, body) in writes(&path) {
        // For an upsert that may create, the response depends on the precondition.
        if target == BY_KEY {
            continue;
        }
        for tags in [tag.as_str(), "*"] {
            request(&service, method, &target, &body)
                .header("if-match", tags)
                .send()
                .await
                .expect_error(404, "not_found");
        }
    }
}

#[tokio::test]
async fn unsupported_precondition_is_rejected() {
    let (service, _, tag) = with_record().await;
    let batch = json!({"operations": [{"op": "delete", "template": "customers", "external_key": "K"}]});
    for (path, body) in [("/v1/entities/batch", batch), ("/v1/entities/template/customers", json!({}))] {
        for header in ["if-match", "if-none-match"] {
            let response = service.proxy.request("POST", path).header(header, &tag).json(&body).send().await;
            response.expect_error(400, "malformed_request");
        }
    }
    assert_eq!(
        service
            .session()
            .await
            .text("select count(*) from crm.customers where deleted_at is null", &[])
            .await,
        "1"
    );
}

#[tokio::test]
async fn replay_returns_the_original_etag() {
    let (service, path, tag) = with_record().await;
    let patch = |tags: &str| {
        let request =
            service.proxy.request("PATCH", &path).header("idempotency-key", "once").header("if-match", tags);
        request.json(&json!({"attributes": {"visits": {"$inc": 1}}})).send()
    };
    let first: Response = patch(&tag).await;
    service.upsert("K", json!({"name": "Bea"})).await.expect(200);
    let again = patch(&tag).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!((again.status, again.header("etag")), (200, first.header("etag")));
    assert_ne!(again.header("etag"), etag(&service, &path).await);
    patch(first.header("etag")).await.expect_error(422, "idempotency_key_reused");
}
