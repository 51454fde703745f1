//! POST …/entities/search/{templateId}.

use harness::{Service, id_of};
use serde_json::{Value, json};

pub(crate) const PATH: &str = "/entities/search/customers";

/// A service with the customers `A-1` to `A-5`, who have 1 to 5 visits.
pub(crate) async fn five() -> Service {
    let service = Service::start().await;
    for number in 1..=5 {
        service.upsert(&format!("A-{number}"), json!({"visits": number})).await.expect(201);
    }
    service
}

fn keys(page: &Value) -> Vec<&str> {
    let records = page["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["external_key"].as_str()).collect()
}

fn above(visits: i32) -> Value {
    json!([{"field": "visits", "operator": "gt", "value": visits.to_string()}])
}

#[tokio::test]
async fn search_by_template_id_supports_all_members() {
    let service = five().await;
    let body = json!({
        "filters": [{"field": "visits", "operator": "between", "value": "2,4"}],
        "filter_groups": [
            [{"field": "external_key", "operator": "in", "value": "A-1,A-2"}],
            [{"field": "external_key", "operator": "like", "value": "-4"}, {"field": "name", "operator": "empty", "value": ""}]
        ],
        "attribute_key": "slug",
        "sort": "external_key"
    });
    let template =
        service.by_key("A-1").await.expect(200)["template_id"].as_str().expect("a number").to_owned();
    // The template's id needs no project header.
    let request =
        service.proxy.request("POST", &format!("/api/v1/entities/search/{template}")).without_project();
    let page = request.json(&body).send().await.expect(200);
    assert_eq!(keys(&page), ["A-2", "A-4"]);
    assert_eq!(page["records"][0], service.by_key("A-2").await.expect(200));
    assert_eq!(
        page,
        json!({"records": page["records"], "next_cursor": null, "has_more": false, "total": null}),
        "the response contains nothing else"
    );
}

#[tokio::test]
async fn search_accepts_slug_id_and_both_prefixes() {
    let service = five().await;
    let template =
        service.by_key("A-1").await.expect(200)["template_id"].as_str().expect("a number").to_owned();
    let body = json!({"filters": above(3), "sort": "visits"});
    for prefix in ["/v1", "/api/v1"] {
        for name in ["customers", &template] {
            let path = format!("{prefix}/entities/search/{name}");
            let page = service.proxy.request("POST", &path).json(&body).send().await.expect(200);
            assert_eq!(keys(&page), ["A-4", "A-5"], "{path}");
        }
    }
    let path = format!("/v1{PATH}");
    let request = service.proxy.request("POST", &path).without_project().json(&body);
    request.send().await.expect_error(400, "project_required");
    let key = service.database.api_key("keyed_admin", &["crm"]).await;
    let request = service.proxy.request("POST", &path).without_project().key(&key).json(&body);
    assert_eq!(keys(&request.send().await.expect(200)), ["A-4", "A-5"]);
}

#[tokio::test]
async fn template_of_another_project_is_indistinguishable_from_a_missing_one() {
    let service = five().await;
    let session = service.session().await;
    session
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'orders', '[]')")
        .await;
    let orders = session.text("select (keyed.alter_template('shop.orders', '{}')) ->> 'id'", &[]).await;
    let key = service.database.api_key("keyed_admin", &["crm"]).await;
    let mut bodies = Vec::new();
    for name in ["orders", &orders, "nothing", "9999", "crm.customers", "-1", "CUSTOMERS"] {
        let request = service.proxy.request("POST", &format!("/v1/entities/search/{name}")).key(&key);
        let mut body = request.json(&json!({})).send().await.expect_error(404, "not_found");
        body["instance"] = Value::Null;
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    // A caller with access to both projects who specifies one does not find the other's template.
    let path = format!("/v1/entities/search/{orders}");
    service.proxy.request("POST", &path).json(&json!({})).send().await.expect_error(404, "not_found");
    service.proxy.request("POST", &path).project("shop").json(&json!({})).send().await.expect(200);
}

#[tokio::test]
async fn search_without_read_is_denied() {
    let service = five().await;
    let role = service.database.create_role("clerk").await;
    service.database.grant(&role, "crm.companies", "read").await;
    service.database.grant(&role, "crm.customers", "create, update").await;
    let key = service.database.api_key(&role, &["crm"]).await;
    let ask = async |body: &Value| {
        service.proxy.request("POST", &format!("/v1{PATH}")).key(&key).json(body).send().await
    };
    // The template is checked before the body.
    for body in [json!({}), json!({"filters": [{"field": "nothing"}]}), json!({"nothing": 1})] {
        ask(&body).await.expect_error(403, "forbidden");
    }
    service.database.grant(&role, "crm.customers", "read").await;
    assert_eq!(keys(&ask(&json!({})).await.expect(200)).len(), 5);
    service.database.revoke(&role, "crm.customers").await;
    ask(&json!({})).await.expect_error(404, "not_found");
    let request = service.proxy.request("POST", &format!("/v1{PATH}")).without_key().json(&json!({}));
    request.send().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn pages_follow_their_cursor_to_the_end() {
    let service = five().await;
    for (sort, expected) in [
        (json!("visits"), ["A-1", "A-2", "A-3", "A-4", "A-5"]),
        (json!([{"field": "visits", "direction": "desc"}]), ["A-5", "A-4", "A-3", "A-2", "A-1"]),
        (Value::Null, ["A-5", "A-4", "A-3", "A-2", "A-1"]),
    ] {
        let mut collected = Vec::new();
        let mut body = json!({"sort": sort, "limit": 2, "count": "exact"});
        for rest in [true, true, false] {
            let page = service.post(PATH, body.clone()).await.expect(200);
            assert_eq!((&page["has_more"], &page["total"]), (&json!(rest), &json!(5)));
            assert_eq!(page["next_cursor"].is_string(), rest, "{page}");
            collected.extend(keys(&page).into_iter().map(str::to_owned));
            body["cursor"] = page["next_cursor"].clone();
        }
        assert_eq!(collected, expected, "{sort}");
    }
}

#[tokio::test]
async fn cursor_is_bound_to_its_search_and_gives_no_access() {
    let service = five().await;
    let page = service.post(PATH, json!({"sort": "visits", "limit": 2})).await.expect(200);
    let cursor = &page["next_cursor"];
    for body in [
        json!({"cursor": cursor}),
        json!({"cursor": cursor, "sort": "-visits"}),
        json!({"cursor": cursor, "sort": "visits", "filters": above(0)}),
        json!({"cursor": "x", "sort": "visits"}),
        json!({"cursor": "", "sort": "visits"}),
    ] {
        let error = service.post(PATH, body).await.expect_error(422, "invalid_value");
        assert_eq!(error["errors"][0]["pointer"], "/cursor");
    }
    let role = service.database.create_role("clerk").await;
    let key = service.database.api_key(&role, &["crm"]).await;
    let body = json!({"cursor": cursor, "sort": "visits"});
    let request = service.proxy.request("POST", &format!("/v1{PATH}")).key(&key).json(&body);
    request.send().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn numbers_keep_their_digits_in_requests_and_responses() {
    let service = five().await;
    let digits = "12345678901234567890123.450";
    let body = format!(r#"{{"external_key": "long", "attributes": {{"visits": {digits}}}}}"#);
    service.send_text("PUT", "/entities/template/customers/by-key", body).await.expect(201);
    for (value, found) in [
        ("12345678901234567890123.45", true),
        ("\"12345678901234567890123.450\"", true),
        ("12345678901234567890123.451", false),
    ] {
        let body = format!(r#"{{"filters": [{{"field": "visits", "operator": "eq", "value": {value}}}]}}"#);
        let response = service.send_text("POST", PATH, body).await;
        assert_eq!(
            response.text.contains(&format!("\"visits\":{digits}")),
            found,
            "{value}: {}",
            response.text
        );
        response.expect(200);
    }
}

#[tokio::test]
async fn acknowledged_write_is_found_immediately() {
    let service = five().await;
    for number in 0..30 {
        let created = service.create(json!({"attributes": {"name": format!("n{number}")}})).await;
        let body = json!({"filters": [{"field": "name", "operator": "eq", "value": format!("n{number}")}]});
        let page = service.post(PATH, body.clone()).await.expect(200);
        assert_eq!(page["records"], json!([created]));
        service.delete(&format!("/entities/{}", id_of(&created))).await;
        assert_eq!(service.post(PATH, body).await.expect(200)["records"], json!([]));
    }
}

#[tokio::test]
async fn repeated_facet_is_returned_once() {
    let service = five().await;
    let response = service.post(PATH, json!({"facets": ["visits", "visits"], "limit": 1})).await;
    assert!([200, 422].contains(&response.status), "{}", response.text);
    assert!(response.text.matches("\"visits\":[").count() <= 1, "{}", response.text);
}

#[tokio::test]
async fn deleted_records_are_listed_for_a_restore() {
    let service = five().await;
    let record = service.by_key("A-2").await.expect(200);
    service.delete(&format!("/entities/{}", id_of(&record))).await.expect(204);
    let deleted =
        json!({"include_deleted": true, "filters": [{"field": "deleted_at", "operator": "not-empty"}]});
    let page = service.post(PATH, deleted.clone()).await.expect(200);
    assert_eq!(keys(&page), ["A-2"]);
    let id = id_of(&page["records"][0]);
    service.post(&format!("/entities/{id}/restore"), json!({})).await.expect(200);
    assert_eq!(keys(&service.post(PATH, deleted.clone()).await.expect(200)), Vec::<&str>::new());
    let words = json!({"include_deleted": true, "global_search": "A"});
    let error = service.post(PATH, words).await.expect(422);
    assert_eq!(error["errors"][0]["pointer"], "/include_deleted");
    let export =
        service.post("/entities/template/customers/export?format=csv", deleted.clone()).await.expect(422);
    assert_eq!(export["errors"][0]["pointer"], "/include_deleted");
    let wrong = service.post(PATH, json!({"include_deleted": "only"})).await.expect(422);
    assert_eq!(wrong["errors"][0]["pointer"], "/include_deleted");
}

#[tokio::test]
async fn highlights_show_matches() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada <b>", "tags": ["poet"]})).await.expect(201);
    let body = json!({"global_search": "ada", "highlight": {"offsets": true}});
    let page = service.post(PATH, body).await.expect(200);
    let record = &page["records"][0];
    assert_eq!(record["highlights"], json!({"name": ["<mark>Ada</mark> &lt;b&gt;"]}));
    assert_eq!(record["highlight_offsets"], json!({"name": [{"start": 0, "end": 7, "marks": [[0, 3]]}]}));
}

#[tokio::test]
async fn last_word_is_completed() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada Lovelace", "tags": ["poet"]})).await.expect(201);
    let path = format!("{PATH}/suggest");
    let response = service.post(&path, json!({"prefix": "ada lo", "limit": 3})).await.expect(200);
    assert_eq!(response, json!({"suggestions": [{"text": "Lovelace", "count": 1}], "exact": true}));
    service.post(&path, json!({"prefix": "x", "limit": 99})).await.expect(422);
    service.post("/entities/search/nothing/suggest", json!({"prefix": "x"})).await.expect(404);
}

#[tokio::test]
async fn fuzzy_search_finds_words_with_a_typo() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada Lovelace"})).await.expect(201);
    let body = json!({"global_search": "ada lovelase", "fuzzy": "auto"});
    let page = service.post(PATH, body).await.expect(200);
    assert_eq!((&page["fuzzy"], &page["did_you_mean"]), (&json!(true), &json!("ada Lovelace")));
    assert_eq!(keys(&page), ["A-1"]);
}

#[tokio::test]
async fn search_has_versions_on_request() {
    let service = Service::start().await;
    let mut tags = Vec::new();
    for key in ["A-1", "A-2"] {
        service.upsert(key, json!({"name": "Ada", "visits": 1})).await.expect(201);
        tags.push(service.by_key(key).await.header("etag").trim_matches('"').to_owned());
    }
    let versions = |page: &Value| -> Vec<Value> {
        page["records"].as_array().expect("records").iter().map(|record| record["version"].clone()).collect()
    };
    let sort = json!("external_key");
    for body in [
        json!({"versions": true}),
        json!({"versions": true, "fields": ["visits"]}),
        json!({"versions": true, "verbose": true, "global_search": "ada", "highlight": true}),
        json!({"versions": true, "filters": [{"field": "name", "operator": "eq", "value": "Ada"}]}),
    ] {
        let mut body = body;
        body["sort"] = sort.clone();
        assert_eq!(versions(&service.post(PATH, body.clone()).await.expect(200)), tags, "{body}");
    }
    for body in [json!({}), json!({"versions": false}), json!({"versions": null})] {
        let page = service.post(PATH, body).await.expect(200);
        assert!(page["records"][0].get("version").is_none(), "{page}");
    }
    let wrong = service.post(PATH, json!({"versions": "yes"})).await.expect_error(422, "invalid_value");
    assert_eq!(wrong["errors"][0]["pointer"], "/versions");

    // The view requests them, unless the search overrides it.
    let view = json!({"slug": "versioned", "query": {"versions": true, "sort": "external_key"}});
    service.post("/templates/customers/views", view).await.expect(201);
    assert_eq!(versions(&service.post(PATH, json!({"view": "versioned"})).await.expect(200)), tags);
    let page = service.post(PATH, json!({"view": "versioned", "versions": false})).await.expect(200);
    assert!(page["records"][0].get("version").is_none(), "{page}");

    // A deleted record has the version that a restore compares.
    service.delete("/entities/template/customers/by-key?key=A-2").await.expect(204);
    let filters = json!([{"field": "deleted_at", "operator": "not-empty"}]);
    let body = json!({"versions": true, "include_deleted": true, "filters": filters});
    let page = service.post(PATH, body).await.expect(200);
    let (id, version) = (&page["records"][0]["id"], &page["records"][0]["version"]);
    let session = service.session().await;
    let own = session.text("select keyed.record_version($1)", &[id.as_str().expect("an id")]).await;
    assert_eq!(version, &json!(own), "{page}");
}
