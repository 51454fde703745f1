//! The routes for administrators.

use harness::Service;
use serde_json::{Value, json};

async fn listed_keys(service: &Service) -> Vec<Value> {
    let list = service.get("/api-keys").await.expect(200);
    list["api_keys"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn api_key_is_shown_once_works_and_is_revoked() {
    let service = Service::start().await;
    let role = service.database.create_role("erp").await;
    service.database.grant(&role, "crm.customers", "read").await;
    let body =
        json!({"role": role, "projects": ["crm"], "label": "erp sync", "expires_at": "2999-12-31T23:59:59Z"});
    let made = service.post("/api-keys", body).await.expect(201);
    let key = made["key"].as_str().expect("the key").to_owned();
    assert_eq!(
        (&made["role"], &made["projects"], &made["label"]),
        (&json!(role), &json!(["crm"]), &json!("erp sync"))
    );
    assert_eq!(made["expires_at"], "2999-12-31T23:59:59Z");
    let me = service.proxy.request("GET", "/v1/me").key(&key).without_project().send().await.expect(200);
    assert_eq!(me["key"], json!({"id": made["id"], "label": "erp sync", "expires_at": made["expires_at"]}));
    assert_eq!(
        (&me["admin"], &me["project"], &me["query_text"]),
        (&json!(false), &json!("crm"), &json!(false))
    );

    let list = service.get("/api-keys").await;
    assert!(!list.text.contains(&key), "a list shows no secret");
    let mut listed = listed_keys(&service).await.pop().expect("the newest");
    assert!(listed["last_used_at"].is_string());
    listed["last_used_at"] = Value::Null;
    let mut expected = made.clone();
    expected.as_object_mut().map(|members| members.remove("key"));
    assert_eq!(listed, expected);

    let path = format!("/api-keys/{}", made["id"]);
    service.delete(&path).await.expect(204);
    service.proxy.request("GET", "/v1/me").key(&key).send().await.expect_error(401, "unauthorized");
    assert!(listed_keys(&service).await.last().is_some_and(|listed| listed["revoked_at"].is_string()));
    for path in [path.as_str(), "/api-keys/0", "/api-keys/x", "/api-keys/99999999999999999999"] {
        service.delete(path).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn rejected_api_key_request_has_a_pointer() {
    let service = Service::start().await;
    for (body, status, code, pointer) in [
        (json!({}), 422, "invalid_value", "/role"),
        (json!({"role": "nobody here"}), 422, "invalid_value", "/role"),
        (json!({"role": "keyed_admin", "projects": []}), 422, "invalid_value", "/projects"),
        (json!({"role": "keyed_admin", "projects": ["crm", "moon"]}), 422, "invalid_value", "/projects/1"),
        (
            json!({"role": "keyed_admin", "expires_at": "2001-01-01T00:00:00Z"}),
            422,
            "invalid_value",
            "/expires_at",
        ),
        (json!({"role": "keyed_admin", "label": "x".repeat(201)}), 422, "invalid_value", "/label"),
        (json!({"role": "keyed_admin", "expires": null}), 422, "unknown_field", "/expires"),
    ] {
        let problem = service.post("/api-keys", body.clone()).await.expect_error(status, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
    for role in ["pg_monitor", "pg_read_all_data", "keyed_proxy"] {
        let problem =
            service.post("/api-keys", json!({"role": role})).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/role", "{role}");
    }
    for role in ["postgres", "keyed_owner"] {
        service.post("/api-keys", json!({"role": role})).await.expect_error(403, "forbidden");
    }
    assert_eq!(listed_keys(&service).await.len(), 1, "the one of the tests");
}

#[tokio::test]
async fn repeated_api_key_request_returns_no_secret() {
    let service = Service::start().await;
    let ask = async || {
        let request = service.proxy.request("POST", "/v1/api-keys").header("idempotency-key", "once");
        request.json(&json!({"role": "keyed_admin", "label": "second"})).send().await
    };
    let first = ask().await;
    assert_eq!(first.header("idempotency-replayed"), "");
    let mut made = first.expect(201);
    let key = made["key"].as_str().expect("the key").to_owned();
    made["key"] = Value::Null;
    let again = ask().await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.expect(201), made);
    assert_eq!(listed_keys(&service).await.len(), 2);
    service.proxy.request("GET", "/v1/me").key(&key).send().await.expect(200);
    // The database does not contain the secret.
    let secret = key.rsplit('_').next().expect("a secret").to_owned();
    let session = service.session().await;
    for table in ["idempotent_request", "api_key"] {
        let found = format!("select count(*) from keyed_state.{table} r where r::text like '%' || $1 || '%'");
        assert_eq!(session.text(&found, &[&secret]).await, "0", "{table}");
    }
    assert!(!service.proxy.whole_log().await.contains(&secret));
}

#[tokio::test]
async fn project_is_created_and_listed_with_privileges() {
    let service = Service::start().await;
    let body = json!({"slug": "shop", "name": "The shop", "time_zone": "Europe/Zurich"});
    let made = service.post("/projects", body.clone()).await.expect(201);
    assert_eq!(
        (&made["slug"], &made["name"], &made["time_zone"], &made["define"]),
        (&json!("shop"), &json!("The shop"), &json!("Europe/Zurich"), &json!(true))
    );
    let list = service.proxy.request("GET", "/v1/projects").without_project().send().await.expect(200);
    assert_eq!(list["projects"][1], made);
    service.proxy.request("GET", "/v1/templates").project("shop").send().await.expect(200);
    let plain = service.post("/projects", json!({"slug": "plain"})).await.expect(201);
    assert_eq!((&plain["name"], &plain["time_zone"]), (&json!("plain"), &Value::Null));

    service.post("/projects", body).await.expect_error(409, "conflict");
    for (body, code, pointer) in [
        (json!({}), "invalid_value", "/slug"),
        (json!({"slug": "A b"}), "invalid_slug", "/slug"),
        (json!({"slug": "moon", "time_zone": "Moon/Sea"}), "invalid_value", "/time_zone"),
        (json!({"slug": "moon", "names": "x"}), "unknown_field", "/names"),
    ] {
        let problem = service.post("/projects", body.clone()).await.expect_error(422, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn listed_grants_can_be_sent_back() {
    let service = Service::start().await;
    let role = service.database.create_role("sales").await;
    let scope = json!({"filters": [{"field": "name", "operator": "eq", "value": "Ada"}]});
    let body =
        json!({"role": role, "target": "crm.customers", "privileges": ["update", "read"], "scope": scope});
    let granted = service.put("/grants", body.clone()).await.expect(200);
    let entry = &granted["grants"][0];
    assert_eq!((&entry["privileges"], &entry["scope"]), (&json!(["read", "update"]), &scope));
    let again = service.put("/grants", body).await.expect(200);
    assert_eq!(again, granted, "the same grant changes nothing");
    // Another scope for one of them, and a privilege on the whole project.
    let all = json!({"role": role, "target": "crm.customers", "privileges": ["read"], "scope": null});
    let granted = service.put("/grants", all).await.expect(200);
    let shown: Vec<_> = granted["grants"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| (&it["privileges"], &it["scope"]))
        .collect();
    assert_eq!(shown, [(&json!(["read"]), &Value::Null), (&json!(["update"]), &scope)]);
    service
        .put("/grants", json!({"role": role, "target": "crm", "privileges": ["define"]}))
        .await
        .expect(200);
    let of_role = service.get(&format!("/grants?role={role}")).await.expect(200);
    assert_eq!(of_role["grants"].as_array().map(Vec::len), Some(3));
    let on_project = service.get(&format!("/grants?role={role}&target=crm")).await.expect(200);
    assert_eq!(on_project["grants"][0]["privileges"], json!(["define"]));
    assert_eq!(
        service.get("/grants?role=nobody").await.expect(200),
        json!({"grants": [], "next_cursor": null})
    );

    let path = format!("/grants?role={role}&target=crm.customers");
    service.delete(&path).await.expect(204);
    service.delete(&path).await.expect_error(404, "not_found");
    service.delete(&format!("/grants?role={role}")).await.expect_error(400, "malformed_request");
    let left = service.get(&format!("/grants?role={role}")).await.expect(200);
    assert_eq!(left["grants"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn rejected_grant_has_a_pointer() {
    let service = Service::start().await;
    let role = service.database.create_role("sales").await;
    let good = json!({"role": role, "target": "crm.customers", "privileges": ["read"]});
    for (member, value, pointer) in [
        ("role", json!("nobody here"), "/role"),
        ("role", json!("keyed_admin"), "/role"),
        ("target", json!("crm.moon"), "/target"),
        ("target", Value::Null, "/target"),
        ("privileges", json!(["fly"]), "/privileges/0"),
        ("privileges", json!("read"), "/privileges"),
        ("scope", json!({"field": "moon", "operator": "eq", "value": 1}), "/scope/field"),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let response = service.put("/grants", body.clone()).await;
        assert_eq!(
            (response.status, &response.body["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{body}"
        );
    }
    let mut body = good.clone();
    body["scopes"] = Value::Null;
    service.put("/grants", body).await.expect_error(422, "unknown_field");
    // Scopes that PostgreSQL cannot store.
    for value in [r#""\u0000""#, "1e1000000", "-1e999999"] {
        let text = format!(
            r#"{{"role": "{role}", "target": "crm.customers", "privileges": ["read"], "scope": {{"field": "name", "operator": "eq", "value": {value}}}}}"#
        );
        let problem = service.send_text("PUT", "/grants", text).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], "/scope", "{value}");
    }
}

#[tokio::test]
async fn roles_that_can_have_keys_are_listed() {
    let service = Service::start().await;
    let (staff, sales) =
        (service.database.create_role("staff").await, service.database.create_role("sales").await);
    service.session().await.run(&format!("grant {staff} to {sales}")).await;
    let roles = service.get("/roles").await.expect(200);
    let named =
        |name: &str| roles["roles"].as_array().into_iter().flatten().find(|role| role["name"] == name);
    assert_eq!(
        named(&sales),
        Some(&json!({"name": sales, "login": true, "admin": false, "grantable": true, "member_of": [staff]}))
    );
    assert_eq!(
        named("keyed_admin"),
        Some(
            &json!({"name": "keyed_admin", "login": false, "admin": true, "grantable": false, "member_of": []})
        )
    );
    for hidden in ["postgres", "keyed_owner", "keyed_proxy", "pg_monitor"] {
        assert_eq!(named(hidden), None);
    }
}

#[tokio::test]
async fn quota_is_set_listed_and_enforced() {
    let service = Service::start().await;
    service.upsert("A", json!({"name": "Ada"})).await.expect(201);
    let set = service.put("/quotas/live_records", json!({"maximum": 1})).await.expect(200);
    assert_eq!(set, json!({"name": "live_records", "maximum": 1, "used": 1, "resets_at": null}));
    service.upsert("B", json!({"name": "Bob"})).await.expect_error(403, "quota_exceeded");
    let quotas = service.get("/quotas").await.expect(200);
    assert_eq!((&quotas["project"], &quotas["quotas"][0]), (&json!("crm"), &set));
    assert_eq!(quotas["quotas"].as_array().map(Vec::len), Some(4));
    let gone = service.put("/quotas/live_records", json!({"maximum": null})).await.expect(200);
    assert_eq!((&gone["maximum"], &gone["used"]), (&Value::Null, &json!(1)));
    service.upsert("B", json!({"name": "Bob"})).await.expect(201);

    for (name, body, pointer) in [
        ("moons", json!({"maximum": 1}), "/name"),
        ("templates", json!({"maximum": -1}), "/maximum"),
        ("templates", json!({"maximum": 1.5}), "/maximum"),
        ("templates", json!({"maximum": "1"}), "/maximum"),
        ("templates", json!({}), "/maximum"),
    ] {
        let problem = service.put(&format!("/quotas/{name}"), body).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
    let ask = |method: &str, path: &str| service.proxy.request(method, path).without_project();
    ask("GET", "/v1/quotas").send().await.expect_error(400, "project_required");
    let set = ask("PUT", "/v1/quotas/templates").json(&json!({"maximum": 1}));
    set.send().await.expect_error(400, "project_required");
}

#[tokio::test]
async fn visibility_of_a_record_is_explained() {
    let service = Service::start().await;
    let role = service.database.create_role("sales").await;
    let id = service.upsert("A", json!({"name": "Ada"})).await.expect(201)["id"].clone();
    let path = format!("/entities/{}/access", id.as_str().expect("an id"));
    let explained = service.get(&format!("{path}?role={role}")).await.expect(200);
    assert_eq!((&explained["sees"], &explained["may"]), (&json!(false), &json!([])));
    let scope = json!({"field": "name", "operator": "eq", "value": "Ada"});
    service.database.grant_within(&role, "crm.customers", "read", &scope).await;
    let explained = service.get(&format!("{path}?role={role}")).await.expect(200);
    assert_eq!((&explained["sees"], &explained["may"]), (&json!(true), &json!(["read"])));
    assert_eq!(explained["grants"][0]["conditions"][0]["holds"], true);
    service.get(&path).await.expect_error(400, "malformed_request");
    service.get(&format!("{path}?role=nobody")).await.expect_error(422, "invalid_value");
    service.get(&format!("/entities/x/access?role={role}")).await.expect_error(404, "not_found");
}
