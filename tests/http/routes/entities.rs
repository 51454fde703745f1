//! Records by id: the responses of each method.

use harness::{Service, id_of};
use serde_json::{Value, json};

fn path(record: &Value) -> String {
    format!("/entities/{}", id_of(record))
}

#[tokio::test]
async fn creation_returns_201_with_record_and_location() {
    let service = Service::start().await;
    for prefix in ["/v1", "/api/v1"] {
        let body = json!({"external_key": format!("{prefix}:1"), "attributes": {"name": "Ada"}});
        let request =
            service.proxy.request("POST", &format!("{prefix}/entities/template/customers")).json(&body);
        let response = request.send().await;
        let location = response.header("location").to_owned();
        assert_eq!(response.header("content-type"), "application/json");
        let record = response.expect(201);
        assert_eq!(location, format!("{prefix}/entities/{}", id_of(&record)));
        assert_eq!(service.proxy.request("GET", &location).send().await.expect(200), record);
        assert_eq!(record["template_slug"], "customers");
        assert!(record["template_id"].is_string() && record["deleted_at"].is_null());
    }
}

#[tokio::test]
async fn template_is_identified_by_slug_or_id() {
    let service = Service::start().await;
    let by_slug = service.create(json!({})).await;
    let number = by_slug["template_id"].as_str().expect("a number");
    let by_number = service.post(&format!("/entities/template/{number}"), json!({})).await.expect(201);
    assert_eq!(by_number["template_id"], by_slug["template_id"]);
    for nothing in [
        "nothing",
        "99",
        "0",
        "-1",
        "2x",
        "99999999999999999999",
        "Customers",
        "crm.customers",
        "%20",
        "2%2F",
    ] {
        service
            .post(&format!("/entities/template/{nothing}"), json!({}))
            .await
            .expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn record_can_be_created_empty() {
    let service = Service::start().await;
    for body in [json!({}), json!({"external_key": null}), json!({"attributes": {}})] {
        assert_eq!(service.create(body).await["external_key"], Value::Null);
    }
    let two = service.create(json!({"attributes": {"name": "Ada"}})).await;
    assert_eq!(two["attributes"]["name"], "Ada");
}

#[tokio::test]
async fn patch_sets_clears_or_keeps_the_key() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada"}})).await;
    for (body, key, name) in [
        (json!({"attributes": {"name": "Bea"}}), json!("A-1"), "Bea"),
        (json!({"external_key": "A-1"}), json!("A-1"), "Bea"),
        (json!({"external_key": " A-2 "}), json!("A-2"), "Bea"),
        (json!({"external_key": null}), Value::Null, "Bea"),
        (json!({"external_key": "A-1", "attributes": {"name": "Cleo"}}), json!("A-1"), "Cleo"),
        (json!({}), json!("A-1"), "Cleo"),
    ] {
        let patched = service.patch(&path(&record), body.clone()).await.expect(200);
        assert_eq!(
            (&patched["external_key"], &patched["attributes"]["name"]),
            (&key, &json!(name)),
            "{body}"
        );
        assert_eq!(service.get(&path(&record)).await.expect(200), patched);
    }
}

#[tokio::test]
async fn put_replaces_attributes_and_keeps_the_key() {
    let service = Service::start().await;
    let record =
        service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada", "visits": 1}})).await;
    let put = service.put(&path(&record), json!({"attributes": {"visits": 2}})).await.expect(200);
    assert_eq!((&put["external_key"], &put["attributes"]["name"]), (&json!("A-1"), &Value::Null));
    assert_eq!(put["attributes"]["visits"], 2);
    for (body, pointer) in [
        (json!({"attributes": {}, "external_key": "A-2"}), "/external_key"),
        (json!({"attributes": {}, "external_key": null}), "/external_key"),
        (json!({}), "/attributes"),
        (json!({"attributes": {"visits": {"$inc": 1}}}), "/attributes/visits"),
        (json!({"attributes": null}), "/attributes"),
        (json!({"attributes": {}, "embedding": null}), "/embedding"),
    ] {
        let response = service.put(&path(&record), body.clone()).await;
        assert_eq!(response.status, 422, "{}", response.text);
        assert_eq!(response.body["errors"][0]["pointer"], pointer, "{body}");
    }
    assert_eq!(service.get(&path(&record)).await.expect(200), put);
}

#[tokio::test]
async fn put_accepts_bare_attribute_values() {
    let service = Service::start().await;
    let record =
        service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada", "visits": 1}})).await;
    let put = service.put(&path(&record), json!({"visits": 2, "tags": ["a"]})).await.expect(200);
    assert_eq!(put["external_key"], "A-1");
    let (values, expected) = (&put["attributes"], (Value::Null, json!(2), json!(["a"])));
    assert_eq!((values["name"].clone(), values["visits"].clone(), values["tags"].clone()), expected);
    for (body, pointer, code) in [
        (json!({"external_key": "A-2"}), "/external_key", "unknown_field"),
        (json!({"name": "Ada", "external_key": null}), "/external_key", "unknown_field"),
        (json!({"born": "x", "embedding": []}), "/embedding", "unknown_field"),
        (json!({"embedding": null}), "/embedding", "unknown_field"),
        (json!({"name": 7}), "/name", "invalid_value"),
        (json!({"nane": "Ada"}), "/nane", "unknown_attribute"),
        (json!({"visits": {"$inc": 1}}), "/visits", "invalid_value"),
        (json!({"name": "Ada", "attributes": {}}), "/name", "unknown_field"),
    ] {
        let error = service.put(&path(&record), body.clone()).await.expect_error(422, code);
        assert_eq!(error["errors"][0]["pointer"], pointer, "{body}");
    }
    assert_eq!(service.get(&path(&record)).await.expect(200), put);
}

#[tokio::test]
async fn attribute_named_attributes_needs_the_member() {
    let service = Service::start().await;
    let attributes =
        json!([{"slug": "attributes", "type": "string"}, {"slug": "embedding", "type": "String"}]);
    service.post("/templates", json!({"slug": "odd", "attributes": attributes})).await.expect(201);
    let record = service.post("/entities/template/odd", json!({})).await.expect(201);
    let wrapped = json!({"attributes": {"attributes": "a", "embedding": "b"}});
    let put = service.put(&path(&record), wrapped.clone()).await.expect(200);
    assert_eq!(put["attributes"], wrapped["attributes"]);
    for bare in [json!({"attributes": "a"}), json!({"embedding": "b"})] {
        assert_eq!(service.put(&path(&record), bare).await.status, 422);
    }
}

#[tokio::test]
async fn deletion_returns_204_then_404() {
    let service = Service::start().await;
    let record = service.create(json!({"external_key": "A-1"})).await;
    let response = service.delete(&path(&record)).await;
    assert_eq!((response.status, response.text.as_str()), (204, ""));
    service.delete(&path(&record)).await.expect_error(404, "not_found");
    service.get(&path(&record)).await.expect_error(404, "not_found");
    service.patch(&path(&record), json!({"external_key": "x"})).await.expect_error(404, "not_found");
    service.put(&path(&record), json!({"attributes": {}})).await.expect_error(404, "not_found");
    let shown = service.get(&format!("{}?include_deleted=true", path(&record))).await.expect(200);
    assert!(shown["deleted_at"].is_string());
    assert_eq!(shown["external_key"], "A-1");
}

#[tokio::test]
async fn deleted_record_is_restored_with_its_key_another_one_or_none() {
    let service = Service::start().await;
    for (body, key) in [
        (None, json!("A-1")),
        (Some(json!({})), json!("A-1")),
        (Some(json!({"external_key": " A-2 "})), json!("A-2")),
        (Some(json!({"external_key": null})), Value::Null),
    ] {
        let record = service.create(json!({"external_key": "A-1"})).await;
        service.delete(&path(&record)).await;
        let mut request = service.proxy.request("POST", &format!("/v1{}/restore", path(&record)));
        if let Some(body) = &body {
            request = request.json(body);
        }
        let restored = request.send().await.expect(200);
        assert_eq!((&restored["external_key"], &restored["deleted_at"]), (&key, &Value::Null), "{body:?}");
        let again = service.post(&format!("{}/restore", path(&record)), json!({})).await;
        again.expect_error(409, "conflict");
        service.delete(&path(&record)).await;
    }
}

#[tokio::test]
async fn restore_does_not_take_over_a_key_in_use() {
    let service = Service::start().await;
    let old = service.create(json!({"external_key": "A-1"})).await;
    service.delete(&path(&old)).await;
    let new = service.create(json!({"external_key": "A-1"})).await;
    let error = service
        .post(&format!("{}/restore", path(&old)), json!({}))
        .await
        .expect_error(409, "external_key_taken");
    assert_eq!(error["existing_id"], new["id"]);
    service.get(&path(&old)).await.expect_error(404, "not_found");
    service.post(&format!("{}/restore", path(&old)), json!({"external_key": null})).await.expect(200);
}

#[tokio::test]
async fn all_kinds_of_missing_records_get_the_same_response() {
    let service = Service::start().await;
    let deleted = service.create(json!({})).await;
    service.delete(&path(&deleted)).await;
    let session = service.session().await;
    let unwritten = session.text("select keyed.new_id(2)", &[]).await;
    let no_template = session.text("select keyed.new_id(16777215)", &[]).await;
    let mut bodies = Vec::new();
    let ids = [
        id_of(&deleted),
        &unwritten,
        &no_template,
        "5a3c9a52-1f0b-4c7e-9f5c-3d1f4f8a2b1c",
        "x",
        "1",
        "%00",
        "..%2F..",
        "'%20or%201=1",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "a%2Fb",
        "%C3%A9",
    ];
    for id in ids {
        let mut body = service.get(&format!("/entities/{id}")).await.expect_error(404, "not_found");
        body["instance"] = Value::Null;
        bodies.push(body);
        service.delete(&format!("/entities/{id}")).await.expect_error(404, "not_found");
        service
            .patch(&format!("/entities/{id}"), json!({"external_key": "x"}))
            .await
            .expect_error(404, "not_found");
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn id_accepts_any_uuid_form() {
    let service = Service::start().await;
    let record = service.create(json!({})).await;
    let id = id_of(&record);
    assert_eq!(id, id.to_lowercase());
    for spelled in [id.to_uppercase(), id.replace('-', "")] {
        assert_eq!(service.get(&format!("/entities/{spelled}")).await.expect(200)["id"], record["id"]);
    }
}

#[tokio::test]
async fn fields_and_verbose_shape_the_response() {
    let service = Service::start().await;
    let record =
        service.create(json!({"external_key": "A-1", "attributes": {"name": "Ada", "tier": ["gold"]}})).await;
    let get = async |query: &str| service.get(&format!("{}?{query}", path(&record))).await;
    let some = get("fields=name,updated_at").await.expect(200);
    let expected = json!({
        "id": record["id"], "template_slug": "customers", "external_key": "A-1", "updated_at": record["updated_at"],
        "attributes": {"name": "Ada"}
    });
    assert_eq!(some, expected);
    let verbose = get("verbose=true&fields=tier").await.expect(200);
    let tier = json!({"value": ["gold"], "type": "list", "label": "tier", "labels": ["Gold card"]});
    assert_eq!(verbose["attribute_values"], json!({"tier": tier}));
    assert_eq!(get("verbose=false").await.expect(200), record);
    let unknown = get("fields=name,nmae").await.expect_error(422, "unknown_field");
    assert_eq!(unknown["errors"][0]["pointer"], "/fields/1");
    for (query, meant) in
        [("verbose=1", "verbose=true"), ("verbose=TRUE", "verbose=true"), ("verbose=0", "verbose=false")]
    {
        assert_eq!(get(query).await.expect(200), get(meant).await.expect(200), "{query}");
    }
    for query in ["verbose=2", "verbose=", "include_deleted=yes"] {
        get(query).await.expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn head_equals_get_without_a_body() {
    let service = Service::start().await;
    let record = service.create(json!({})).await;
    let get = service.get(&path(&record)).await;
    let head = service.proxy.request("HEAD", &format!("/v1{}", path(&record))).send().await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), get.text.len().to_string());
    service.proxy.request("HEAD", "/v1/entities/x").send().await.expect(404);
}
