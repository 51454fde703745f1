//! Administration over HTTP is limited to administrators and to the projects of their key.

use crate::sales::Sales;
use harness::{Proxy, Response};
use serde_json::{Value, json};

/// Every route for administrators, with a body for those that write.
fn routes(role: &str, id: &str) -> Vec<(&'static str, String, Value)> {
    let grant = json!({"role": role, "target": "crm", "privileges": ["read"]});
    vec![
        ("GET", "/api-keys".to_owned(), Value::Null),
        ("POST", "/api-keys".to_owned(), json!({"role": role})),
        ("DELETE", "/api-keys/1".to_owned(), Value::Null),
        ("POST", "/projects".to_owned(), json!({"slug": "moon"})),
        ("GET", "/roles".to_owned(), Value::Null),
        ("GET", "/grants".to_owned(), Value::Null),
        ("PUT", "/grants".to_owned(), grant),
        ("DELETE", format!("/grants?role={role}&target=crm"), Value::Null),
        ("GET", "/quotas".to_owned(), Value::Null),
        ("PUT", "/quotas/templates".to_owned(), json!({"maximum": 9})),
        ("GET", format!("/entities/{id}/access?role={role}"), Value::Null),
        ("POST", "/jobs/retry".to_owned(), json!({})),
        ("GET", "/doctor".to_owned(), Value::Null),
        ("GET", "/embeddings/status".to_owned(), Value::Null),
        ("GET", "/embeddings/failures".to_owned(), Value::Null),
        ("POST", "/embeddings/retry".to_owned(), json!({})),
        ("GET", "/templates/customers/index-suggestions".to_owned(), Value::Null),
    ]
}

async fn ask(proxy: &Proxy, key: &str, method: &str, path: &str, body: &Value) -> Response {
    let request = proxy.request(method, &format!("/v1{path}")).key(key);
    if body.is_null() { request.send().await } else { request.json(body).send().await }
}

/// A service with the projects `crm` and `shop`, and the key of an administrator that is limited to `crm`.
async fn with_two_projects() -> (Sales, Proxy, String) {
    let sales = Sales::new().await;
    sales.admin.run("select keyed.create_project('shop'), keyed.create_template('shop', 'orders')").await;
    let proxy = Proxy::start(&sales.database).await;
    let key = sales.database.api_key("keyed_admin", &["crm"]).await;
    (sales, proxy, key)
}

#[tokio::test]
async fn administration_is_denied_to_others() {
    let (sales, proxy, _) = with_two_projects().await;
    let role = sales.database.create_role("office").await;
    sales.database.grant(&role, "crm", "read, create, update, delete, define").await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let id = sales.id("EU-1").await;
    for (method, path, body) in routes(&role, &id) {
        ask(&proxy, &key, method, &path, &body).await.expect_error(403, "forbidden");
        // The body is not read before the privilege check.
        if !body.is_null() {
            ask(&proxy, &key, method, &path, &json!({"unknown": 1})).await.expect_error(403, "forbidden");
        }
    }
    assert_eq!(ask(&proxy, &key, "GET", "/jobs", &Value::Null).await.expect(200), json!({"jobs": []}));
    // The same functions by SQL, as a login and as the proxy without a key.
    let login = sales.database.session_as(&role).await;
    let service = sales.database.session_as("keyed_proxy").await;
    for statement in [
        "select keyed_http.list_api_keys()",
        "select keyed_http.create_api_key('{\"role\": \"keyed_admin\"}')",
        "select keyed_http.revoke_api_key('1')",
        "select keyed_http.list_roles()",
        "select keyed_http.list_grants(null, null)",
        "select keyed_http.grant_access('{}')",
        "select keyed_http.revoke_access('a', 'crm')",
        "select keyed_http.explain_access('x', 'a')",
        "select keyed_http.create_project('{}')",
        "select keyed_http.list_quotas()",
        "select keyed_http.set_quota('templates', '{}')",
        "select keyed_http.retry_jobs()",
        "select keyed_http.embedding_status()",
        "select keyed_http.embedding_failures(null, 1)",
        "select keyed_http.retry_embeddings(null)",
        "select keyed_http.suggest_indexes('1')",
        "select keyed_http.examine()",
    ] {
        for session in [&login, &service] {
            assert_eq!(session.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
        }
    }
}

#[tokio::test]
async fn limited_key_administers_only_its_projects() {
    let (sales, proxy, key) = with_two_projects().await;
    let role = sales.database.create_role("office").await;
    for target in ["crm.customers", "shop.orders", "shop"] {
        sales.database.grant(&role, target, "read").await;
    }
    let of_crm = sales.database.api_key(&role, &["crm"]).await;
    let of_shop = sales.database.api_key(&role, &["shop"]).await;
    let of_both = sales.database.api_key(&role, &["crm", "shop"]).await;
    let number = |key: &str| key.split('_').nth(1).and_then(|id| id.parse::<i64>().ok()).expect("a number");
    let get = async |path: &str| ask(&proxy, &key, "GET", path, &Value::Null).await;

    let keys = get("/api-keys").await.expect(200);
    let ids: Vec<_> =
        keys["api_keys"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_i64()).collect();
    assert_eq!(ids, [number(&key), number(&of_crm)]);
    for other in [&of_shop, &of_both] {
        let path = format!("/api-keys/{}", number(other));
        ask(&proxy, &key, "DELETE", &path, &Value::Null).await.expect_error(404, "not_found");
    }
    ask(&proxy, &key, "DELETE", &format!("/api-keys/{}", number(&of_crm)), &Value::Null).await.expect(204);

    let issue = async |projects: Value| {
        ask(&proxy, &key, "POST", "/api-keys", &json!({"role": role, "projects": projects})).await
    };
    issue(Value::Null).await.expect_error(403, "forbidden");
    for (projects, position) in [(json!(["shop"]), 0), (json!(["crm", "shop"]), 1), (json!(["moon"]), 0)] {
        let problem = issue(projects.clone()).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], format!("/projects/{position}"), "{projects}");
    }
    issue(json!(["crm"])).await.expect(201);

    let grants = get("/grants").await.expect(200);
    let targets: Vec<_> = grants["grants"].as_array().into_iter().flatten().map(|it| &it["target"]).collect();
    assert_eq!(targets, ["crm.customers"]);
    for target in ["shop", "shop.orders"] {
        let body = json!({"role": role, "target": target, "privileges": ["read"]});
        ask(&proxy, &key, "PUT", "/grants", &body).await.expect_error(422, "invalid_value");
        let path = format!("/grants?role={role}&target={target}");
        ask(&proxy, &key, "DELETE", &path, &Value::Null).await.expect_error(422, "invalid_value");
    }
    assert_eq!(
        sales.admin.text("select count(*) from keyed.list_access() where target ~ 'shop'", &[]).await,
        "2"
    );

    let order = sales.admin.text("select keyed.create_record('shop.orders', '{}') ->> 'id'", &[]).await;
    get(&format!("/entities/{order}/access?role={role}")).await.expect_error(404, "not_found");
    for (method, path) in [("POST", "/projects"), ("POST", "/jobs/retry")] {
        ask(&proxy, &key, method, path, &json!({"slug": "moon"})).await.expect_error(403, "forbidden");
    }
    get("/doctor").await.expect_error(403, "forbidden");
    let quotas = get("/quotas").await.expect(200);
    assert_eq!(quotas["project"], "crm");
}

#[tokio::test]
async fn background_work_is_limited_to_the_projects_of_a_key() {
    let (sales, proxy, key) = with_two_projects().await;
    sales
        .admin
        .run(
            "select keyed.add_attribute('shop.orders', '{\"slug\": \"name\", \"type\": \"string\"}'); \
             select keyed.alter_template('shop.orders', '{\"embed\": [\"name\"]}'), \
                    keyed.alter_template('crm.customers', '{\"embed\": [\"name\"]}'); \
             select keyed.create_record('shop.orders', '{\"name\": \"secret\"}'); \
             update keyed_state.embedding_job set state = 'failed', error = 'too long', failed_at = now(); \
             insert into keyed_state.job (template_id, kind, state, error, created_at) \
             select t.id, 'documents', 'failed', 'no room', now() from keyed_state.template t where t.slug <> 'companies'",
        )
        .await;
    let templates = async |path: &str, list: &str| {
        let response = ask(&proxy, &key, "GET", path, &Value::Null).await.expect(200);
        let mut found: Vec<String> = response[list]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| it["template"].as_str().unwrap_or_default().to_owned())
            .collect();
        found.dedup();
        found
    };
    for (path, list) in
        [("/embeddings/status", "templates"), ("/embeddings/failures", "failures"), ("/jobs", "jobs")]
    {
        assert_eq!(templates(path, list).await, ["crm.customers"], "{path}");
    }
    let retried = ask(&proxy, &key, "POST", "/embeddings/retry", &json!({})).await.expect(200);
    assert_eq!(retried, json!({"count": 4}));
    let left = "select count(*) from keyed_state.embedding_job where state = 'failed'";
    assert_eq!(sales.admin.text(left, &[]).await, "1");
}

#[tokio::test]
async fn former_administrator_gets_no_administrative_replay() {
    let (sales, proxy, _) = with_two_projects().await;
    let role = sales.database.create_role("chief").await;
    let clerk = sales.database.create_role("clerk").await;
    sales.admin.run(&format!("grant keyed_admin to {role}")).await;
    let key = sales.database.api_key(&role, &[]).await;
    let send = async |method: &str, path: &str, body: Value| {
        let request = proxy.request(method, &format!("/v1{path}")).key(&key).project("crm");
        request.header("idempotency-key", path).json(&body).send().await
    };
    let issue =
        async || send("POST", "/api-keys", json!({"role": clerk, "label": "secret"})).await.expect(201);
    let grant = async || {
        let body = json!({"role": clerk, "target": "crm", "privileges": ["read"]});
        send("PUT", "/grants", body).await.expect(200)
    };
    let quota = async || send("PUT", "/quotas/templates", json!({"maximum": 9})).await.expect(200);
    let (mut issued, granted, set) = (issue().await, grant().await, quota().await);
    assert!(issued["key"].is_string());
    issued["key"] = Value::Null;
    assert_eq!((issue().await, grant().await, quota().await), (issued.clone(), granted, set));
    sales.admin.run(&format!("revoke keyed_admin from {role}")).await;
    assert_eq!(issue().await, json!({"id": issued["id"]}));
}
