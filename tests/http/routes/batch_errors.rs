//! Rejected batches and rejected operations of POST /entities/batch.

use crate::routes::batch::{batch, upsert};
use harness::Service;
use harness::customers::{HISTORY, SERIES};
use serde_json::{Value, json};

/// The row counts of everything that a write leaves behind.
async fn traces(service: &Service) -> String {
    let counts = &format!(
        "select (select count(*) from crm.customers) || ' ' || (select count(*) from {HISTORY}) || ' '
                  || (select count(*) from {SERIES})"
    );
    service.session().await.text(counts, &[]).await
}

#[tokio::test]
async fn rejected_operation_has_its_own_problem() {
    let service = Service::start().await;
    service.create(json!({"external_key": "taken"})).await;
    let mut operations: Vec<Value> =
        (0..300).map(|n| upsert(&format!("K-{n}"), json!({"name": "x"}))).collect();
    operations[7] = upsert("K-7", json!({"visits": "three"}));
    operations[50] = json!({"op": "create", "template": "customers", "external_key": "taken", "attributes": {"name": "x"}});
    operations[120] = upsert(" ", json!({"name": "x"}));
    operations[121] = upsert("K-121", json!({"company": {"external_key": "nobody"}}));
    operations[200] = json!({"op": "update", "template": "customers", "external_key": "nobody"});
    operations[299] = json!({"op": "create", "template": "companies"});
    let report = batch(&service, false, json!(operations)).await.expect(200);
    assert_eq!(report["errors"], true);
    let results = report["results"].as_array().expect("results");
    for (index, status, code, pointer) in [
        (7, 422, "invalid_value", "/operations/7/attributes/visits"),
        (50, 409, "external_key_taken", "/operations/50/external_key"),
        (120, 422, "invalid_external_key", "/operations/120/external_key"),
        (121, 422, "reference_not_found", "/operations/121/attributes/company"),
        (200, 404, "not_found", ""),
        (299, 422, "required_attribute", "/operations/299/attributes/name"),
    ] {
        let result = &results[index];
        assert_eq!((&result["index"], &result["status"]), (&json!(index), &json!(status)), "{result}");
        assert_eq!(
            (&result["error"]["status"], &result["error"]["code"]),
            (&json!(status), &json!(code)),
            "{result}"
        );
        assert_eq!(result["error"]["errors"][0]["pointer"].as_str().unwrap_or_default(), pointer, "{result}");
        assert!(result["error"]["title"].is_string() && result["error"]["detail"].is_string(), "{result}");
    }
    assert_eq!(results.iter().filter(|result| result["status"] == 201).count(), 294);
    assert_eq!(traces(&service).await, "295 295 0");
    service.session().await.run(&format!("reindex table crm.customers; reindex table {HISTORY}")).await;
}

#[tokio::test]
async fn atomic_batch_with_a_rejected_operation_writes_nothing() {
    let service = Service::start().await;
    service.upsert("K-1", json!({"name": "before", "mood": 1})).await.expect(201);
    let before = (traces(&service).await, service.by_key("K-1").await.expect(200));
    for (operation, status, code, pointer) in [
        (upsert("K-9", json!({"visits": "x"})), 422, "invalid_value", "/operations/250/attributes/visits"),
        (upsert("", json!({})), 422, "invalid_external_key", "/operations/250/external_key"),
        (
            json!({"op": "create", "template": "customers", "external_key": "K-1"}),
            409,
            "external_key_taken",
            "/operations/250/external_key",
        ),
        (
            json!({"op": "update", "template": "customers", "external_key": "nobody", "attributes": {"name": "x"}}),
            404,
            "not_found",
            "",
        ),
        (json!({"op": "delete", "template": "customers", "external_key": "nobody"}), 404, "not_found", ""),
        (
            upsert("K-9", json!({"company": {"external_key": "nobody"}})),
            422,
            "reference_not_found",
            "/operations/250/attributes/company",
        ),
        (json!({"op": "merge", "template": "customers"}), 422, "invalid_value", "/operations/250/op"),
    ] {
        let mut operations: Vec<Value> = (0..500)
            .map(|n| upsert(&format!("K-{}", n % 300), json!({"visits": {"$inc": 1}, "mood": n})))
            .collect();
        operations[250] = operation;
        let error = batch(&service, true, json!(operations)).await.expect_error(status, code);
        assert_eq!(error["failed_index"], 250, "{error}");
        assert_eq!(error["errors"][0]["pointer"].as_str().unwrap_or_default(), pointer, "{error}");
        assert_eq!((traces(&service).await, service.by_key("K-1").await.expect(200)), before);
    }
}

#[tokio::test]
async fn malformed_batch_is_rejected() {
    let service = Service::start().await;
    assert_eq!(batch(&service, false, json!([])).await.expect(200), json!({"errors": false, "results": []}));
    let too_many: Value = (0..1001).map(|n| upsert(&format!("K-{n}"), json!({}))).collect();
    batch(&service, false, too_many).await.expect_error(413, "payload_too_large");
    for (body, code, pointer) in [
        (json!({}), "invalid_value", "/operations"),
        (json!({"operations": {}}), "invalid_value", "/operations"),
        (json!({"operations": [], "atomic": "yes"}), "invalid_value", "/atomic"),
        (json!({"operations": [], "mode": "fast"}), "unknown_field", "/mode"),
    ] {
        let error = service.post("/entities/batch", body).await.expect_error(422, code);
        assert_eq!(error["errors"][0]["pointer"], pointer);
    }
    for body in ["[]", "{", ""] {
        service.send_text("POST", "/entities/batch", body).await.expect_error(400, "malformed_request");
    }
    assert_eq!(traces(&service).await, "0 0 0");
}

#[tokio::test]
async fn malformed_operation_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    let id = service.create(json!({})).await["id"].clone();
    for (operation, status, pointer) in [
        (json!("upsert"), 422, "/operations/0"),
        (json!({"template": "customers"}), 422, "/operations/0/op"),
        (json!({"op": "upsert", "external_key": "K"}), 422, "/operations/0/template"),
        (json!({"op": "upsert", "template": "customers"}), 422, "/operations/0/external_key"),
        (
            json!({"op": "upsert", "template": "customers", "external_key": null}),
            422,
            "/operations/0/external_key",
        ),
        (
            json!({"op": "upsert", "template": "customers", "external_key": "K", "id": id}),
            422,
            "/operations/0/id",
        ),
        (json!({"op": "create", "template": "customers", "id": id}), 422, "/operations/0/id"),
        (json!({"op": "update", "template": "customers"}), 422, "/operations/0/external_key"),
        (
            json!({"op": "delete", "template": "customers", "id": id, "attributes": {}}),
            422,
            "/operations/0/attributes",
        ),
        (
            json!({"op": "upsert", "template": "customers", "external_key": "K", "atributes": {}}),
            422,
            "/operations/0/atributes",
        ),
        (json!({"op": "upsert", "template": "nothing", "external_key": "K"}), 404, ""),
        (json!({"op": "update", "template": "companies", "id": id}), 404, ""),
        (json!({"op": "update", "template": "customers", "id": "x"}), 404, ""),
    ] {
        let report = batch(&service, false, json!([operation])).await.expect(200);
        let result = &report["results"][0];
        assert_eq!(
            (&report["errors"], &result["status"]),
            (&json!(true), &json!(status)),
            "{operation}: {report}"
        );
        assert_eq!(
            result["error"]["errors"][0]["pointer"].as_str().unwrap_or_default(),
            pointer,
            "{operation}: {report}"
        );
        let atomic = batch(&service, true, json!([operation])).await;
        assert_eq!(
            (atomic.status, &atomic.body["failed_index"]),
            (status, &json!(0)),
            "{operation}: {}",
            atomic.text
        );
    }
}

#[tokio::test]
async fn batch_has_the_privileges_of_its_key() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'secrets', '[{\"slug\": \"hidden\", \"type\": \"string\", \"required\": true}]')").await;
    let other =
        session.json("select keyed.create_record('shop.secrets', '{\"hidden\": \"x\"}', 'S-1')", &[]).await;
    let crm_key = service.database.api_key("keyed_admin", &["crm"]).await;
    let number = other["template_id"].as_str().expect("a number");
    for (there, missing) in [
        (
            json!({"op": "upsert", "template": "shop.secrets", "external_key": "S-1", "attributes": {"zzz": 1}}),
            json!({"op": "upsert", "template": "shop.nothing", "external_key": "S-1", "attributes": {"zzz": 1}}),
        ),
        (
            json!({"op": "upsert", "template": number, "external_key": "S-1", "attributes": {"zzz": 1}}),
            json!({"op": "upsert", "template": "999", "external_key": "S-1", "attributes": {"zzz": 1}}),
        ),
        (
            json!({"op": "create", "template": "shop.secrets"}),
            json!({"op": "create", "template": "shop.nothing"}),
        ),
        (
            json!({"op": "update", "id": other["id"], "attributes": {"zzz": 1}}),
            json!({"op": "update", "id": "00000000-0000-0000-0000-000000000000", "attributes": {"zzz": 1}}),
        ),
        (
            json!({"op": "update", "id": other["id"], "external_key": "x"}),
            json!({"op": "update", "id": "00000000-0000-0000-0000-000000000000", "external_key": "x"}),
        ),
        (
            json!({"op": "delete", "id": other["id"]}),
            json!({"op": "delete", "id": "00000000-0000-0000-0000-000000000000"}),
        ),
    ] {
        let mut responses = Vec::new();
        for operation in [&there, &missing] {
            let body = json!({"operations": [operation]});
            let response =
                service.proxy.request("POST", "/v1/entities/batch").key(&crm_key).json(&body).send().await;
            assert!(!response.text.contains("hidden"), "{there}: {}", response.text);
            responses.push(response.expect(200));
        }
        assert_eq!(responses[0], responses[1], "{there}");
        assert_eq!(responses[0]["results"][0]["status"], 404, "{there}");
    }
}
