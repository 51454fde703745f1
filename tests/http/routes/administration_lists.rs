//! Paginated lists for administrators, with the names of actors.

use harness::Service;
use serde_json::{Value, json};

/// The entries on all pages of a list, page by page.
async fn pages(service: &Service, path: &str, name: &str, limit: usize) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = service.get(&format!("{path}limit={limit}{cursor}")).await.expect(200);
        pages.push(page[name].as_array().expect("entries").clone());
        let Some(next) = page["next_cursor"].as_str() else { return pages };
        assert_eq!(pages.last().map(Vec::len), Some(limit), "a page before the last is full");
        cursor = format!("&cursor={next}");
    }
}

#[tokio::test]
async fn lists_of_administrators_are_read_page_by_page() {
    let service = Service::start().await;
    let mut roles = Vec::new();
    let statement = r#"select keyed.issue_api_key($1::name), keyed.grant_access($1::name, 'crm', '{define}'),
        keyed.grant_access($1::name, 'crm.customers', '{read}', '{"field": "name", "operator": "eq", "value": ",\"after\":"}'),
        keyed.grant_access($1::name, 'crm.customers', '{update,delete}')"#;
    for name in ["north", "south", "east", "west"] {
        let role = service.database.create_role(name).await;
        service.session().await.rows(statement, &[&role]).await;
        roles.push(role);
    }
    // Other tests create roles in the meantime.
    let own = |pages: Vec<Vec<Value>>| -> Vec<Value> {
        let is_own =
            |entry: &Value| entry["name"].as_str().is_none_or(|name| name.ends_with(service.database.name()));
        pages.concat().into_iter().filter(is_own).collect()
    };
    for (path, name, count) in
        [("/api-keys?", "api_keys", 5), ("/roles?", "roles", 4), ("/grants?", "grants", 12)]
    {
        let whole = own(pages(&service, path, name, 1000).await);
        assert_eq!(whole.len(), count, "{name}");
        for limit in [1, 2, 5, count] {
            assert_eq!(own(pages(&service, path, name, limit).await), whole, "{name} by {limit}");
        }
    }
    let plain = service.get("/grants").await.expect(200);
    assert_eq!((plain["grants"].as_array().map(Vec::len), &plain["next_cursor"]), (Some(12), &Value::Null));
    let of_one = pages(&service, &format!("/grants?role={}&", roles[0]), "grants", 1).await;
    assert_eq!(of_one.concat().len(), 3);
    // An entry that is created after the page between two requests is on the next page.
    let first = service.get("/api-keys?limit=4").await.expect(200);
    let added = service.post("/api-keys", json!({"role": "keyed_admin", "label": "late"})).await.expect(201);
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let rest = service.get(&format!("/api-keys?cursor={cursor}")).await.expect(200);
    assert_eq!(
        rest["api_keys"].as_array().and_then(|keys| keys.last()).map(|key| &key["id"]),
        Some(&added["id"])
    );
}

#[tokio::test]
async fn invalid_page_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    // A text where keys of the API have an id.
    let problem = service.get("/api-keys?cursor=WyJhYmMiXQ").await.expect_error(422, "invalid_value");
    assert_eq!(problem["errors"][0]["pointer"], "/cursor");
    for path in ["/api-keys", "/roles", "/grants"] {
        for (query, pointer) in [
            ("limit=0", "/limit"),
            ("limit=1001", "/limit"),
            ("cursor=x", "/cursor"),
            ("cursor=WyJhIl0x", "/cursor"),
        ] {
            let problem = service.get(&format!("{path}?{query}")).await.expect_error(422, "invalid_value");
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{path} {query}");
        }
        service.get(&format!("{path}?page=2")).await.expect_error(400, "malformed_request");
    }
    // A cursor of another list is rejected or starts at some position of this one.
    let cursor = service.post("/api-keys", json!({"role": "keyed_admin"})).await.expect(201);
    assert!(cursor["id"].is_number());
    let of_keys = service.get("/api-keys?limit=1").await.expect(200)["next_cursor"].clone();
    let of_keys = of_keys.as_str().expect("a cursor");
    service.get(&format!("/grants?cursor={of_keys}")).await.expect_error(422, "invalid_value");
    service.get(&format!("/roles?cursor={of_keys}")).await.expect(200);
}

#[tokio::test]
async fn grant_names_its_grantor() {
    let service = Service::start().await;
    let role = service.database.create_role("sales").await;
    let grant = json!({"role": role, "target": "crm.customers", "privileges": ["read"]});
    let granted = service.put("/grants", grant).await.expect(200);
    assert_eq!(granted["grants"][0]["granted_by"], "issued by a test (key 1)");
    service.database.grant(&role, "crm", "create").await;
    let listed = service.get(&format!("/grants?role={role}&target=crm")).await.expect(200);
    assert_eq!(listed["grants"][0]["granted_by"], "postgres");
    service.post("/api-keys", json!({"role": role, "label": "second"})).await.expect(201);
    let issued = "select created_by from keyed_state.api_key where label = 'second'";
    assert_eq!(service.session().await.text(issued, &[]).await, "issued by a test (key 1)");
}

#[tokio::test]
async fn former_administrator_gets_no_stored_response() {
    let service = Service::start().await;
    let (office, role) =
        (service.database.create_role("office").await, service.database.create_role("sales").await);
    let session = service.session().await;
    session.run(&format!("grant keyed_admin to {office}")).await;
    let key = service.database.api_key(&office, &["crm"]).await;
    let grant = json!({"role": role, "target": "crm.customers", "privileges": ["read"]});
    let requests = [
        ("PUT", "/v1/grants", grant),
        ("PUT", "/v1/quotas/templates", json!({"maximum": 9})),
        ("POST", "/v1/embeddings/retry", json!({})),
    ];
    let send = |(method, path, body): &(&'static str, &'static str, Value)| {
        let request = service.proxy.request(method, path).key(&key).header("idempotency-key", path);
        request.json(body).send()
    };
    for request in &requests {
        let first = send(request).await.expect(200);
        let again = send(request).await;
        assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &first), "{request:?}");
    }
    session.run(&format!("revoke keyed_admin from {office}")).await;
    for request in &requests {
        let problem = send(request).await.expect_error(403, "forbidden");
        assert!(problem["detail"].as_str().is_some_and(|it| it.contains("has already run")), "{problem}");
    }
}
