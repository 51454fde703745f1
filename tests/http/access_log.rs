//! The access log: one line per request, whatever its outcome.

use crate::routes::inbound::endpoint;
use harness::{Database, Service, Wire, until};
use serde_json::{Value, json};

async fn service() -> Service {
    Service::start_with(&[("KEYED_LOG_FORMAT", "json")]).await
}

/// The log line of the request with this id. Asserts that there is exactly one.
async fn line(service: &Service, id: &str) -> Value {
    let mut lines = service.proxy.access_log(id).await;
    assert_eq!(lines.len(), 1, "of {id}: {lines:?}");
    lines.remove(0)
}

#[tokio::test]
async fn request_is_logged_in_one_line() {
    let service = service().await;
    let body = r#"{"external_key": "A-1", "attributes": {"name": "Ada"}}"#;
    let path = "/v1/entities/template/customers/by-key";
    let request = service.proxy.request("PUT", path).body("application/json", body);
    let response = request.header("x-request-id", "first/1").send().await;
    assert_eq!(response.header("x-request-id"), "first/1");
    let line = line(&service, "first/1").await;
    let of_the_key = "select max(id) from keyed_state.api_key";
    let key = service.session().await.text(of_the_key, &[]).await;
    for (field, value) in [
        ("method", json!("PUT")),
        ("route", json!("/v1/entities/template/{template}/by-key")),
        ("status", json!(201)),
        ("bytes_in", json!(body.len())),
        ("bytes_out", json!(response.text.len())),
        ("statements", json!(1)),
        ("key", json!(key)),
        ("role", json!("keyed_admin")),
        ("project", json!("crm")),
        ("sqlstate", Value::Null),
        ("ended", Value::Null),
    ] {
        assert_eq!(line[field], value, "{field} in {line}");
    }
    let times = ["wait_us", "database_us"].map(|field| line[field].as_u64().expect("microseconds"));
    assert!(line["duration_us"].as_u64() >= Some(times[0] + times[1]), "{line}");
    assert!(times[1] > 0, "{line}");
}

#[tokio::test]
async fn rejected_requests_are_logged_with_the_reason() {
    let settings =
        [("KEYED_LOG_FORMAT", "json"), ("KEYED_KEY_RATE", "3"), ("KEYED_MAX_CONNECTIONS_PER_ADDRESS", "3")];
    let service = Service::start_with(&settings).await;
    let id = |id: &'static str| move |request: harness::Request| request.header("x-request-id", id);
    let of = |method, path, with: &dyn Fn(harness::Request) -> harness::Request| {
        with(service.proxy.request(method, path)).send()
    };
    let wrong = service.database.nonexistent_key().await;
    let role = service.database.create_role("reader").await;
    let reader = service.database.api_key(&role, &["crm"]).await;
    of("GET", "/v1/me", &|request| id("none")(request.without_key())).await.expect_error(401, "unauthorized");
    of("GET", "/v1/me", &|request| id("wrong")(request.key(&wrong))).await.expect_error(401, "unauthorized");
    of("GET", "/v1/nowhere?a=b", &id("nowhere")).await.expect_error(404, "not_found");
    let forbidden =
        |request: harness::Request| id("forbidden")(request.key(&reader)).json(&json!({"slug": "x"}));
    of("POST", "/v1/templates", &forbidden).await.expect_error(403, "forbidden");
    of("GET", "/v1/templates/unknown", &id("unknown")).await.expect_error(404, "not_found");
    for _ in 0..20 {
        of("GET", "/v1/me", &id("often")).await;
    }
    for (id, status, route, sqlstate, has_key) in [
        ("none", 401, json!("/v1/me"), Value::Null, false),
        ("wrong", 401, json!("/v1/me"), Value::Null, false),
        ("nowhere", 404, Value::Null, Value::Null, false),
        ("forbidden", 403, json!("/v1/templates"), json!("42501"), true),
        ("unknown", 404, json!("/v1/templates/{template}"), json!("P0002"), true),
    ] {
        let line = line(&service, id).await;
        assert_eq!((&line["status"], &line["route"]), (&json!(status), &route), "{id}: {line}");
        assert_eq!((&line["sqlstate"], line["key"].is_string()), (&sqlstate, has_key), "{id}: {line}");
    }
    assert_eq!(line(&service, "forbidden").await["role"], role);
    let often = service.proxy.access_log("often").await;
    let limited: Vec<&Value> = often.iter().filter(|line| line["status"] == 429).collect();
    assert!(!limited.is_empty() && often.len() == 20, "{often:?}");
    assert!(limited.iter().all(|line| line["rejected_by"] == "key_rate" && line["role"] == "keyed_admin"));

    // Connections over the limit have sent no data that identifies them.
    let mut wires = Vec::new();
    for _ in 0..4 {
        wires.push(Wire::open(service.proxy.address()).await);
    }
    until("a connection is refused", async || {
        let log = service.proxy.log();
        log.lines().any(|line| {
            line.contains(r#""status":503"#) && line.contains(r#""rejected_by":"address_connections""#)
        })
    })
    .await;
}

#[tokio::test]
async fn streamed_export_and_an_import_are_logged_at_their_end() {
    let service = service().await;
    let file: String = std::iter::once("external_key,name\n".to_owned())
        .chain((0..3000).map(|number| format!("k{number},{}\n", "x".repeat(50))))
        .collect();
    let path = "/v1/entities/template/customers/import";
    let request = service.proxy.request("POST", path).body("text/csv", file.clone());
    request.header("x-request-id", "import").send().await.expect(200);
    let import = line(&service, "import").await;
    assert_eq!((&import["status"], &import["bytes_in"]), (&json!(200), &json!(file.len())), "{import}");
    assert!(import["statements"].as_u64() > Some(1), "{import}");

    let export = service.proxy.request("GET", "/v1/entities/template/customers/export?format=ndjson");
    let response = export.header("x-request-id", "export").response().await;
    let bytes = response.bytes().await.expect("the complete export").len();
    let export = line(&service, "export").await;
    assert_eq!((&export["bytes_out"], &export["ended"]), (&json!(bytes), &Value::Null), "{export}");
    assert_eq!(export["route"], "/v1/entities/template/{template}/export");
}

#[tokio::test]
async fn disconnect_is_logged_as_such() {
    let service = service().await;
    let holder = service.session().await;
    holder.run("begin; lock table crm.customers in access exclusive mode").await;
    let path = "POST /v1/entities/template/customers";
    let headers = "Content-Type: application/json\nContent-Length: 2\nX-Request-Id: gone";
    let mut wire = Wire::begin(&service.proxy, path, service.proxy.key(), headers).await;
    wire.send(b"{}").await.expect("the body fits into the buffers");
    service.session().await.until_blocked(1).await;
    drop(wire);
    until("the change is noticed", async || !service.proxy.access_log("gone").await.is_empty()).await;
    let line = line(&service, "gone").await;
    assert_eq!((&line["status"], &line["ended"]), (&json!(499), &json!("client gone")), "{line}");
    holder.run("rollback").await;
    let head = service.proxy.request("HEAD", "/v1/templates").header("x-request-id", "head").response().await;
    assert_eq!(head.status().as_u16(), 200);
    assert_eq!(self::line(&service, "head").await["ended"], Value::Null);
}

#[tokio::test]
async fn delivery_is_logged_by_its_endpoint() {
    let service = service().await;
    let sender = endpoint(&service, true).await;
    let request = service
        .proxy
        .request("POST", &format!("/v1/inbound/{}", sender.token))
        .without_key()
        .without_project();
    let request = request.header("x-request-id", "delivery").json(&json!({}));
    request.send().await.expect_error(401, "unauthorized");
    let line = line(&service, "delivery").await;
    assert_eq!(line["route"], "/v1/inbound/{token}", "{line}");
    assert_eq!((&line["endpoint"], &line["project"]), (&json!("shop"), &json!("crm")), "{line}");
}

#[tokio::test]
async fn request_without_a_known_key_has_the_address_of_the_client() {
    let service = Service::start_with(&[("KEYED_LOG_FORMAT", "json"), ("KEYED_TRUSTED_PROXIES", "1")]).await;
    let of = |id: &'static str| {
        let request = service.proxy.request("GET", "/v1/me").header("x-request-id", id);
        request.header("x-forwarded-for", "10.9.9.9, 192.0.2.7")
    };
    of("known").send().await.expect(200);
    of("none").without_key().send().await.expect_error(401, "unauthorized");
    let wrong = service.database.nonexistent_key().await;
    of("wrong").key(&wrong).send().await.expect_error(401, "unauthorized");
    for id in ["none", "wrong"] {
        assert_eq!(line(&service, id).await["address"], "192.0.2.7", "{id}");
    }
    assert_eq!(line(&service, "known").await["address"], Value::Null);
}

#[tokio::test]
async fn log_contains_only_ids_of_callers() {
    let service = Service::start_with(&[("KEYED_LOG", "debug")]).await;
    let secret = "s3cr3t";
    let value = json!({"external_key": secret, "attributes": {"name": secret}});
    service.post("/entities/template/customers", value.clone()).await.expect(201);
    service.post("/entities/template/customers", value).await.expect_error(409, "external_key_taken");
    service.by_key(secret).await.expect(200);
    service.get(&format!("/entities/{secret}?fields={secret}")).await.expect_error(404, "not_found");
    let odd =
        service.proxy.request("GET", "/v1/me").header("x-request-id", &format!("{secret} with a space"));
    odd.project(&format!("Not a slug {secret}")).send().await;
    let odd = service.proxy.request(secret, &format!("/{secret}")).key(&format!("keyed_1_{secret}"));
    odd.response().await;
    let token = service.proxy.request("POST", &format!("/v1/inbound/in_{secret}"));
    token.json(&json!({"a": secret})).send().await.expect_error(404, "not_found");
    let log = service.proxy.whole_log().await;
    assert!(!log.contains(secret), "{log}");
    assert!(!log.contains(service.proxy.key().rsplit('_').next().unwrap_or_default()), "{log}");
}

#[tokio::test]
async fn log_target_switches_the_access_log_off() {
    let service = Service::start_with(&[("KEYED_LOG", "info,access=off")]).await;
    service.get("/me").await.expect(200);
    let Service { mut proxy, database: _database } = service;
    proxy.request_shutdown();
    proxy.ended().await;
    let log = proxy.log();
    assert!(log.contains("stopping") && !log.contains("access"), "{log}");
}

#[tokio::test]
async fn running_statement_shows_its_request() {
    let service = service().await;
    let (session, holder) = (service.session().await, service.session().await);
    holder.run("begin; lock table crm.customers in access exclusive mode").await;
    let create = service.proxy.request("POST", "/v1/entities/template/customers");
    let create = create.header("x-request-id", &"7".repeat(128)).json(&json!({}));
    let create = tokio::spawn(create.send());
    let shown = |pattern: &str| {
        format!(
            "select count(*) from pg_stat_activity where datname = current_database() and application_name ~ '{pattern}'"
        )
    };
    session.until(&shown("^keyed 7{57}$"), "1").await;
    holder.run("rollback").await;
    create.await.expect("the task completes").expect(201);
    let sender = endpoint(&service, true).await;
    service.deliver(&sender, "{}").await;
    // After the request, the connection has its own application name again.
    session.until(&shown("^keyed "), "0").await;
    assert_ne!(session.text(&shown("^keyed-proxy$"), &[]).await, "0");
}

#[tokio::test]
async fn log_keeps_the_old_role_name_only_for_old_requests() {
    let service = service().await;
    let database: &Database = &service.database;
    let role = database.create_role("clerk").await;
    let key = database.api_key(&role, &["crm"]).await;
    let ask =
        |id: &'static str| service.proxy.request("GET", "/v1/me").key(&key).header("x-request-id", id).send();
    ask("before").await.expect(200);
    let session = service.session().await;
    session.run("select keyed.revoke_api_key((select max(id) from keyed_state.api_key))").await;
    ask("revoked").await.expect_error(401, "unauthorized");
    ask("later").await.expect_error(401, "unauthorized");
    let (before, revoked) = (line(&service, "before").await, line(&service, "revoked").await);
    assert_eq!((&before["status"], &before["role"]), (&json!(200), &json!(role)), "{before}");
    assert_eq!((&revoked["status"], &revoked["key"]), (&json!(401), &before["key"]), "{revoked}");
    assert_eq!(revoked["sqlstate"], "28000", "{revoked}");
}
