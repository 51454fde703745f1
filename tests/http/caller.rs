//! The project of a request.

use harness::{Service, id_of};
use serde_json::{Value, json};

/// Two projects with a template `customers` each, and an administrator's keys for one project, for both, and for all.
struct Two {
    service: Service,
    crm_key: String,
    both_key: String,
    shop_record: Value,
    shop_template: String,
}

async fn two() -> Two {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'customers', '[{\"slug\": \"mood\", \"type\": \"metric\"}]')").await;
    let shop_record = session.json("select keyed.create_record('shop.customers', '{}', 'S-1')", &[]).await;
    let shop_template = shop_record["template_id"].as_str().expect("a number").to_owned();
    let crm_key = service.database.api_key("keyed_admin", &["crm"]).await;
    let both_key = service.database.api_key("keyed_admin", &["crm", "shop"]).await;
    Two { service, crm_key, both_key, shop_record, shop_template }
}

#[tokio::test]
async fn project_header_accepts_slug_and_id() {
    let two = two().await;
    for (project, count) in [("crm", 2), ("1", 2), ("shop", 1), ("2", 1), (" shop ", 1)] {
        let response =
            two.service.proxy.request("GET", "/v1/templates").project(project).send().await.expect(200);
        assert_eq!(response["templates"].as_array().map(Vec::len), Some(count), "{project}");
    }
}

#[tokio::test]
async fn project_header_is_optional_for_single_project_keys() {
    let two = two().await;
    let path = "/v1/entities/template/customers";
    let ask = async |key: &str, header: Option<&str>| {
        let request = two.service.proxy.request("POST", path).key(key).without_project().json(&json!({}));
        match header {
            Some(value) => request.header("x-service-project-id", value).send().await,
            None => request.send().await,
        }
    };
    for header in [None, Some("")] {
        ask(&two.crm_key, header).await.expect(201);
        ask(&two.both_key, header).await.expect_error(400, "project_required");
        ask(two.service.proxy.key(), header).await.expect_error(400, "project_required");
    }
    let template = two.service.proxy.request("POST", "/v1/templates").without_project();
    template.json(&json!({"slug": "x"})).send().await.expect_error(400, "project_required");
}

#[tokio::test]
async fn template_id_and_record_id_need_no_project_header() {
    let two = two().await;
    let id = id_of(&two.shop_record);
    for path in [
        format!("/v1/entities/{id}"),
        format!("/v1/entities/{id}/history"),
        format!("/v1/entities/template/{}/by-key?key=S-1", two.shop_template),
        format!("/v1/templates/{}", two.shop_template),
    ] {
        two.service.proxy.request("GET", &path).without_project().send().await.expect(200);
        two.service.proxy.request("GET", &path).project("shop").send().await.expect(200);
    }
}

#[tokio::test]
async fn repeated_project_header_is_rejected() {
    let two = two().await;
    let request = two.service.proxy.request("GET", "/v1/templates").project("crm");
    request.header("x-service-project-id", "shop").send().await;
    let request = two.service.proxy.request("GET", "/v1/templates").without_project();
    let request = request.header("x-service-project-id", "crm").header("x-service-project-id", "shop");
    request.send().await.expect_error(400, "malformed_request");
}

#[tokio::test]
async fn invisible_project_is_indistinguishable_from_a_missing_one() {
    let two = two().await;
    let mut bodies = Vec::new();
    for project in
        ["shop", "2", "nothing", "99", "-1", "CRM", "crm.customers", "keyed_state", "'; --", "caf\u{e9}"]
    {
        let request = two.service.proxy.request("GET", "/v1/templates").key(&two.crm_key).project(project);
        let mut body = request.send().await.expect_error(404, "not_found");
        body["instance"] = Value::Null;
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn object_of_another_project_is_indistinguishable_from_a_missing_one() {
    let two = two().await;
    let missing = two.service.session().await.text("select keyed.new_id($1)", &[&two.shop_template]).await;
    let routes = [
        ("GET", "/v1/entities/{id}", None),
        ("GET", "/v1/entities/{id}?include_deleted=true&verbose=true", None),
        ("PATCH", "/v1/entities/{id}", Some(json!({"external_key": "x"}))),
        ("PUT", "/v1/entities/{id}", Some(json!({"attributes": {}}))),
        ("DELETE", "/v1/entities/{id}", None),
        ("POST", "/v1/entities/{id}/restore", None),
        ("GET", "/v1/entities/{id}/history", None),
        ("GET", "/v1/entities/{id}/metrics/mood", None),
        ("POST", "/v1/entities/template/{template}", Some(json!({}))),
        ("PUT", "/v1/entities/template/{template}/by-key", Some(json!({"external_key": "S-1"}))),
        ("GET", "/v1/entities/template/{template}/by-key?key=S-1", None),
        ("DELETE", "/v1/entities/template/{template}/by-key?key=S-1", None),
        ("GET", "/v1/templates/{template}", None),
    ];
    // A key without access to the project, and a key with access that specifies the other project.
    for key in [&two.crm_key, &two.both_key] {
        for (method, route, body) in &routes {
            let mut responses = Vec::new();
            for (id, template) in
                [(id_of(&two.shop_record), two.shop_template.as_str()), (missing.as_str(), "9999")]
            {
                let path = route.replace("{id}", id).replace("{template}", template);
                let mut request = two.service.proxy.request(method, &path).key(key);
                if let Some(body) = body {
                    request = request.json(body);
                }
                let mut body = request.send().await.expect_error(404, "not_found");
                body["instance"] = Value::Null;
                responses.push(body);
            }
            assert_eq!(responses[0], responses[1], "{method} {route}");
        }
    }
    let untouched =
        two.service.session().await.json("select keyed.get_by_key('shop.customers', 'S-1')", &[]).await;
    assert_eq!(untouched, two.shop_record);
}

#[tokio::test]
async fn me_lists_the_projects_and_privileges_of_a_key() {
    let two = two().await;
    let role = two.service.database.create_role("clerk").await;
    two.service.database.grant(&role, "crm.customers", "read").await;
    let key = two.service.database.api_key(&role, &["crm", "shop"]).await;
    let ask = async |path: &str, key: &str| {
        two.service.proxy.request("GET", path).key(key).without_project().send().await.expect(200)
    };
    let slugs = |response: Value| -> Vec<String> {
        let projects = response["projects"].as_array().expect("a list").iter();
        projects.filter_map(|project| project["slug"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(slugs(ask("/v1/projects", two.service.proxy.key()).await), ["crm", "shop"]);
    assert_eq!(slugs(ask("/v1/projects", &two.crm_key).await), ["crm"]);
    assert_eq!(slugs(ask("/v1/projects", &key).await), ["crm"], "the other project has no grant");
    let me = ask("/v1/me", &key).await;
    assert_eq!((&me["role"], &me["admin"]), (&json!(role), &json!(false)));
    assert_eq!(me["projects"], json!(["crm", "shop"]));
    assert_eq!(me["key"]["label"], "issued by a test");
    let templates: Vec<&Value> = me["templates"].as_array().expect("a list").iter().collect();
    assert_eq!(templates.len(), 1, "{me}");
    assert_eq!(
        (&templates[0]["template"], &templates[0]["privileges"]),
        (&json!("crm.customers"), &json!(["read"]))
    );
    let listed =
        two.service.proxy.request("GET", "/v1/templates").key(&key).project("crm").send().await.expect(200);
    assert_eq!(listed["templates"].as_array().map(Vec::len), Some(1));
}
