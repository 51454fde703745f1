//! The template routes.

use harness::Service;
use serde_json::{Value, json};

#[tokio::test]
async fn creation_returns_201_with_template_and_location() {
    let service = Service::start().await;
    let body = r#"{
        "slug": "orders", "label": "Orders", "display": "number", "language": "simple",
        "attributes": [
            {"slug": "number", "type": "string"},
            {"slug": "total", "type": "number", "label": "Total", "required": true, "default": 0.10},
            {"slug": "buyer", "type": "reference", "template": "customers"}
        ]
    }"#;
    let response = service.send_text("POST", "/templates", body).await;
    let location = response.header("location").to_owned();
    assert!(response.text.contains("\"default\":0.10"), "every digit is kept: {}", response.text);
    let template = response.expect(201);
    assert_eq!(location, format!("/v1/templates/{}", template["id"].as_str().expect("a number")));
    for path in [location.as_str(), "/v1/templates/orders", "/api/v1/templates/orders"] {
        assert_eq!(service.proxy.request("GET", path).send().await.expect(200), template, "{path}");
    }
    for (member, value) in
        [("label", "Orders"), ("display", "number"), ("language", "simple"), ("project", "crm")]
    {
        assert_eq!(template[member], value);
    }
    let slugs: Vec<Value> = service.get("/templates").await.expect(200)["templates"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| it["slug"].clone())
        .collect();
    assert_eq!(slugs, ["companies", "customers", "orders"]);
    service.post("/entities/template/orders", json!({"attributes": {"number": "1"}})).await.expect(201);
}

#[tokio::test]
async fn template_that_was_read_can_be_sent_back_under_another_slug() {
    let service = Service::start().await;
    let mut template = service.get("/templates/customers").await.expect(200);
    template["slug"] = json!("clients");
    let copy = service.post("/templates", template.clone()).await.expect(201);
    for member in ["label", "display", "language", "project"] {
        assert_eq!(copy[member], template[member], "{member}");
    }
    assert_ne!(copy["id"], template["id"]);
}

#[tokio::test]
async fn format_of_an_attribute_is_created_patched_removed_and_sent_back() {
    let service = Service::start().await;
    let attributes = json!([{"slug": "width", "type": "number", "format": {"unit": "mm", "decimals": 2}}]);
    let made =
        service.post("/templates", json!({"slug": "goods", "attributes": attributes})).await.expect(201);
    assert_eq!(made["attributes"][0]["format"], attributes[0]["format"]);
    let listed = service.get("/templates").await.expect(200);
    let goods = listed["templates"].as_array().into_iter().flatten().find(|it| it["slug"] == "goods");
    assert_eq!(goods, Some(&made));
    let mut copy = made.clone();
    copy["slug"] = json!("copies");
    let copy = service.post("/templates", copy).await.expect(201);
    assert_eq!(copy["attributes"][0]["format"], attributes[0]["format"]);
    let change = |format: Value| json!({"attributes": [{"slug": "width", "format": format}]});
    let patched = service.patch("/templates/goods", change(json!({"currency": "CHF"}))).await.expect(200);
    assert_eq!(patched["attributes"][0]["format"], json!({"currency": "CHF"}));
    let removed = service.patch("/templates/goods", change(Value::Null)).await.expect(200);
    assert_eq!(removed["attributes"][0].get("format"), None);
    let error = service.patch("/templates/goods", change(json!({"decimals": 21}))).await;
    let error = error.expect_error(422, "invalid_value");
    assert_eq!(error["errors"][0]["pointer"], "/attributes/0/format/decimals");
}

#[tokio::test]
async fn synonyms_are_set_validated_and_returned() {
    let service = Service::start().await;
    assert_eq!(service.get("/templates/customers").await.expect(200)["synonyms"], json!([]));
    let sets = json!([{"synonyms": ["car", "motor car"]}, {"root": "phone", "synonyms": ["iPhone"]}]);
    let body = json!({"synonyms": sets});
    let plan = service.patch("/templates/customers?dry_run=true", body.clone()).await.expect(200);
    assert_eq!(plan["changes"], json!({"synonyms": {"old": [], "new": sets}}));
    assert_eq!(service.patch("/templates/customers", body).await.expect(200)["synonyms"], sets);
    service.upsert("A-1", json!({"name": "a red motor car"})).await.expect(201);
    let found = service.post("/entities/search/customers", json!({"global_search": "cars"})).await;
    assert_eq!(found.expect(200)["records"][0]["external_key"], "A-1");

    let mut template = service.get("/templates/customers").await.expect(200);
    assert_eq!(template["synonyms"], sets);
    template["slug"] = json!("clients");
    assert_eq!(service.post("/templates", template).await.expect(201)["synonyms"], sets);

    let wrong = json!([{"synonyms": ["car", "Car"]}, {"root": "phone", "synonyms": ["-x", "\"y\""]}]);
    let positions = ["/synonyms/0/synonyms/1", "/synonyms/1/synonyms/0", "/synonyms/1/synonyms/1"];
    for error in [
        service.patch("/templates/customers", json!({"synonyms": wrong})).await,
        service.post("/templates", json!({"slug": "other", "synonyms": wrong})).await,
    ] {
        let error = error.expect_error(422, "invalid_value");
        let errors = error["errors"].as_array().expect("errors").iter();
        let pointers: Vec<&str> = errors.filter_map(|error| error["pointer"].as_str()).collect();
        assert_eq!(pointers, positions);
    }
    service.patch("/templates/customers", json!({"synonyms": null})).await.expect(200);
    assert_eq!(service.get("/templates/customers").await.expect(200)["synonyms"], json!([]));
}

#[tokio::test]
async fn reserved_names_are_rejected_as_slugs() {
    let service = Service::start().await;
    for reserved in [
        "external_key",
        "id",
        "template_id",
        "template_slug",
        "created_at",
        "updated_at",
        "deleted_at",
        "tableoid",
        "ctid",
        "xmin",
        "xmax",
        "cmin",
        "cmax",
    ] {
        let body = json!({"slug": "orders", "attributes": [{"slug": reserved, "type": "string"}]});
        let error = service.post("/templates", body).await.expect_error(422, "reserved_slug");
        assert_eq!(error["errors"][0]["pointer"], "/attributes/0/slug", "{reserved}");
    }
    service.get("/templates/orders").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn invalid_slug_is_rejected() {
    let service = Service::start().await;
    for slug in [
        "A",
        "é",
        "1a",
        "_a",
        "a b",
        "a-b",
        "a.b",
        "a\"b",
        "a'; drop table x; --",
        " ",
        &"a".repeat(64),
        "\u{0}",
    ] {
        let template = service.post("/templates", json!({"slug": slug})).await;
        assert_eq!(
            (template.status, &template.body["errors"][0]["pointer"]),
            (422, &json!("/slug")),
            "{slug:?}"
        );
        let body = json!({"slug": "orders", "attributes": [{"slug": slug, "type": "string"}]});
        let attribute = service.post("/templates", body).await;
        assert_eq!(attribute.status, 422, "{slug:?}: {}", attribute.text);
        assert_eq!(attribute.body["errors"][0]["pointer"], "/attributes/0/slug", "{slug:?}");
    }
}

#[tokio::test]
async fn invalid_definition_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    for (body, code, pointer) in [
        (json!({}), "invalid_value", "/slug"),
        (json!({"slug": 1}), "invalid_value", "/slug"),
        (json!({"slug": "a", "colour": "red"}), "unknown_field", "/colour"),
        (json!({"slug": "a", "attributes": {}}), "invalid_value", "/attributes"),
        (json!({"slug": "a", "display": "nothing"}), "unknown_attribute", "/display"),
        (json!({"slug": "a", "language": "klingon"}), "invalid_value", "/language"),
        (
            json!({"slug": "a", "attributes": [{"slug": "b", "type": "text"}]}),
            "invalid_value",
            "/attributes/0/type",
        ),
        (
            json!({"slug": "a", "attributes": [{"slug": "b", "type": "reference", "template": "x"}]}),
            "invalid_value",
            "/attributes/0/template",
        ),
    ] {
        let error = service.post("/templates", body.clone()).await.expect_error(422, code);
        assert_eq!(error["errors"][0]["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn unknown_member_of_a_definition_is_rejected_with_known_ones() {
    let service = Service::start().await;
    let option = json!({"slug": "b", "type": "list", "options": [{"value": "x", "colour": "red"}]});
    for (attribute, pointer, known) in [
        (json!({"slug": "b", "type": "string", "requird": true}), "/attributes/0/requird", "required"),
        (option, "/attributes/0/options/0/colour", "value and label"),
    ] {
        let body = json!({"slug": "a", "attributes": [attribute]});
        let error = service.post("/templates", body).await.expect_error(422, "unknown_field");
        assert_eq!(error["errors"][0]["pointer"], pointer);
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(known)), "{error}");
    }
    let known = "label, required, indexed, collation, format, options and default";
    let change = json!({"attributes": [{"slug": "name", "requird": true}]});
    let error = service.patch("/templates/customers", change).await.expect_error(422, "unknown_field");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(known)), "{error}");
    let error = service
        .post("/templates", json!({"slug": "a", "colour": 1}))
        .await
        .expect_error(422, "unknown_field");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("attributes")), "{error}");
}

#[tokio::test]
async fn used_slug_is_a_conflict() {
    let service = Service::start().await;
    let error = service.post("/templates", json!({"slug": "customers"})).await.expect_error(409, "conflict");
    assert_eq!(error["errors"][0]["pointer"], "/slug");
}

#[tokio::test]
async fn too_many_attributes_are_too_large() {
    let service = Service::start().await;
    let attributes: Value = (0..501).map(|n| json!({"slug": format!("a{n}"), "type": "string"})).collect();
    let body = json!({"slug": "wide", "attributes": attributes});
    service.post("/templates", body).await.expect_error(413, "payload_too_large");
}

#[tokio::test]
async fn unknown_template_is_not_found() {
    let service = Service::start().await;
    for name in
        ["nothing", "99", "Customers", "crm.customers", "pg_class", "%00", "99999999999999999999", "-2"]
    {
        service.get(&format!("/templates/{name}")).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn template_is_changed_and_dropped_over_http() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada", "visits": 1})).await.expect(201);
    let change = json!({
        "label": "Clients", "rename": {"name": "title"}, "drop": ["tags"],
        "attributes": [{"slug": "note", "type": "string"}, {"slug": "visits", "label": "Calls"}]
    });
    let template = service.patch("/templates/customers", change).await.expect(200);
    assert_eq!(template["label"], "Clients");
    let slugs: Vec<&Value> =
        template["attributes"].as_array().into_iter().flatten().map(|it| &it["slug"]).collect();
    assert_eq!(slugs, ["title", "visits", "mood", "tier", "born", "seen", "company", "active", "note"]);
    assert_eq!(service.get("/templates/customers").await.expect(200), template);
    assert_eq!(service.by_key("A-1").await.expect(200)["attributes"]["title"], "Ada");
    for (body, code, pointer) in [
        (json!({"rename": {"title": "external_key"}}), "reserved_slug", "/rename/title"),
        (
            json!({"attributes": [{"slug": "deleted_at", "type": "date"}]}),
            "reserved_slug",
            "/attributes/0/slug",
        ),
        (json!({"rename": {"nobody": "x"}}), "unknown_attribute", "/rename/nobody"),
        (json!({"drop": ["nobody"]}), "unknown_attribute", "/drop/0"),
        (json!({"colour": "red"}), "unknown_field", "/colour"),
    ] {
        let error = service.patch("/templates/customers", body).await.expect_error(422, code);
        assert_eq!(error["errors"][0]["pointer"], pointer);
    }
    service.delete("/templates/customers").await.expect_error(409, "conflict");
    assert_eq!(service.delete("/entities/template/customers/by-key?key=A-1").await.status, 204);
    assert_eq!(service.delete("/templates/customers").await.status, 204);
    service.delete("/templates/customers").await.expect_error(404, "not_found");
    service.get("/templates/customers").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn dry_run_returns_effects_and_changes_nothing() {
    let service = Service::start().await;
    service.upsert("A-1", json!({"name": "Ada"})).await.expect(201);
    let before = service.get("/templates").await.expect(200);
    let change = json!({"drop": ["name"], "attributes": [{"slug": "joined", "type": "date"}]});
    let plan = service.patch("/templates/customers?dry_run=true", change.clone()).await.expect(200);
    assert_eq!(
        (&plan["dry_run"], &plan["dropped"]),
        (&json!(true), &json!([{"slug": "name", "records": 1}]))
    );
    assert_eq!(plan["added"][0]["slug"], "joined");
    let orders =
        json!({"slug": "orders", "attributes": [{"slug": "number", "type": "string", "indexed": true}]});
    let request = || service.proxy.request("POST", "/v1/templates?dry_run=1").header("idempotency-key", "k");
    for _ in 0..2 {
        let response = request().json(&orders).send().await;
        assert_eq!((response.header("location"), response.header("idempotency-replayed")), ("", ""));
        assert_eq!(response.expect(200)["added"][0]["slug"], "number");
    }
    assert_eq!(service.get("/templates").await.expect(200), before);
    for wrong in [json!({"drop": ["moon"]}), json!({"drops": []})] {
        assert_eq!(service.patch("/templates/customers?dry_run=true", wrong).await.status, 422);
    }
    service.patch("/templates/customers?dry_run=maybe", change.clone()).await.expect(422);
    service.patch("/templates/customers?dry_run=false", change).await.expect(200);
    service.post("/templates?dry_run=0", orders).await.expect(201);
}
