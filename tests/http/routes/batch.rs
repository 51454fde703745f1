//! POST /entities/batch.

use harness::{Response, Service, id_of};
use serde_json::{Value, json};

pub(crate) async fn batch(service: &Service, atomic: bool, operations: Value) -> Response {
    service.post("/entities/batch", json!({"atomic": atomic, "operations": operations})).await
}

pub(crate) fn upsert(key: &str, attributes: Value) -> Value {
    json!({"op": "upsert", "template": "customers", "external_key": key, "attributes": attributes})
}

#[tokio::test]
async fn results_have_the_order_of_the_request() {
    let service = Service::start().await;
    let [old, gone] = [
        service.create(json!({"external_key": "old"})).await,
        service.create(json!({"external_key": "gone"})).await,
    ];
    for atomic in [false, true] {
        let suffix = if atomic { "2" } else { "1" };
        let operations = json!([
            upsert(&format!("z{suffix}"), json!({"name": "z"})),
            {"op": "create", "template": "customers", "external_key": format!("a{suffix}")},
            upsert("old", json!({"visits": {"$inc": 1}})),
            {"op": "create", "template": "2", "attributes": {"mood": 1}},
            {"op": "update", "template": "customers", "id": old["id"], "attributes": {"name": suffix}},
            {"op": "update", "template": "customers", "external_key": "old", "attributes": {"tags": ["x"]}},
            {"op": "update", "id": old["id"], "external_key": "old"},
            upsert(&format!("b{suffix}"), json!({})),
        ]);
        let report = batch(&service, atomic, operations).await.expect(200);
        assert_eq!(report["errors"], false);
        let results = report["results"].as_array().expect("results");
        let shown: Vec<Value> =
            results.iter().map(|it| json!([it["index"], it["status"], it["created"]])).collect();
        let expected = [
            (201, true),
            (201, true),
            (200, false),
            (201, true),
            (200, false),
            (200, false),
            (200, false),
            (201, true),
        ];
        let expected: Vec<Value> =
            expected.iter().enumerate().map(|(index, it)| json!([index, it.0, it.1])).collect();
        assert_eq!(shown, expected);
        assert!(
            results.iter().all(|result| result["id"].is_string() && result.get("error").is_none()),
            "{results:?}"
        );
        assert_eq!(service.by_key(&format!("z{suffix}")).await.expect(200)["id"], results[0]["id"]);
        assert_eq!(results[4]["id"], old["id"]);
    }
    assert_eq!(service.by_key("old").await.expect(200)["attributes"]["visits"], 2);
    let deletes = json!([
        {"op": "delete", "template": "customers", "external_key": "gone"},
        {"op": "delete", "template": "customers", "id": old["id"]},
    ]);
    let report = batch(&service, true, deletes).await.expect(200);
    let statuses: Vec<&Value> =
        report["results"].as_array().into_iter().flatten().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [204, 204]);
    service.get(&format!("/entities/{}", id_of(&gone))).await.expect_error(404, "not_found");
}

#[tokio::test]
async fn same_key_twice_is_created_once_and_written_in_order() {
    let service = Service::start().await;
    for atomic in [false, true] {
        let key = format!("K-{atomic}");
        let operations = json!([
            upsert(&key, json!({"name": "first", "visits": {"$inc": 1}})),
            upsert("other", json!({"name": "x", "visits": {"$inc": 1}})),
            upsert(&format!(" {key}"), json!({"name": "second", "visits": {"$inc": 1}})),
            upsert(&key, json!({"visits": {"$inc": 1}, "mood": 1})),
            upsert(&key, json!({"name": "last"})),
        ]);
        let report = batch(&service, atomic, operations).await.expect(200);
        let created: Vec<&Value> =
            report["results"].as_array().into_iter().flatten().map(|it| &it["created"]).collect();
        assert_eq!(created, [&json!(true), &json!(!atomic), &json!(false), &json!(false), &json!(false)]);
        let ids = [0, 2, 3, 4].map(|index| &report["results"][index]["id"]);
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let record = service.by_key(&key).await.expect(200);
        assert_eq!(
            (&record["attributes"]["name"], &record["attributes"]["visits"]),
            (&json!("last"), &json!(3))
        );
    }
}

#[tokio::test]
async fn batch_can_refer_to_its_own_records() {
    let service = Service::start().await;
    service.session().await.run(
        "select keyed.create_template('crm', 'tree', '[{\"slug\": \"name\", \"type\": \"string\"}, {\"slug\": \"up\", \"type\": \"reference\", \"template\": \"tree\"}]')",
    ).await;
    let node = |key: &str, up: &str| json!({"op": "upsert", "template": "tree", "external_key": key, "attributes": {"up": {"external_key": up}}});
    for atomic in [true, false] {
        let operations = json!([
            upsert("K", json!({"company": {"external_key": "C"}})),
            {"op": "create", "template": "companies", "external_key": "C", "attributes": {"name": "ACME"}},
            upsert("L", json!({"company": {"external_key": "C"}})),
            // Forward, backward, to itself, and in a cycle.
            node("leaf", "branch"), node("branch", "root"), node("root", "root"), node("x", "y"), node("y", "z"), node("z", "x"),
        ]);
        let report = batch(&service, atomic, operations).await.expect(200);
        assert_eq!(report["errors"], false, "{report}");
        let company = &report["results"][1]["id"];
        for key in ["K", "L"] {
            assert_eq!(service.by_key(key).await.expect(200)["attributes"]["company"], *company);
        }
        let ups = "select string_agg(t.external_key || '>' || u.external_key, ' ' order by t.external_key)
                   from crm.tree t join crm.tree u on u.id = t.up";
        assert_eq!(
            service.session().await.text(ups, &[]).await,
            "branch>root leaf>branch root>root x>y y>z z>x"
        );
        service.session().await.run("update crm.tree set up = null; delete from crm.tree; delete from crm.customers; delete from crm.companies").await;
    }
}

#[tokio::test]
async fn key_swap_in_a_batch_needs_a_null_step() {
    let service = Service::start().await;
    let [one, two] = [
        service.create(json!({"external_key": "1"})).await,
        service.create(json!({"external_key": "2"})).await,
    ];
    let set = |record: &Value, key: Value| json!({"op": "update", "template": "customers", "id": record["id"], "external_key": key});
    let swap = json!([set(&one, json!("2")), set(&two, json!("1"))]);
    batch(&service, true, swap).await.expect_error(409, "external_key_taken");
    assert_eq!(service.by_key("1").await.expect(200)["id"], one["id"]);
    let over_null = json!([set(&one, Value::Null), set(&two, json!("1")), set(&one, json!("2"))]);
    assert_eq!(batch(&service, true, over_null).await.expect(200)["errors"], false);
    assert_eq!(service.by_key("1").await.expect(200)["id"], two["id"]);
    assert_eq!(service.by_key("2").await.expect(200)["id"], one["id"]);
}

#[tokio::test]
async fn batch_writes_the_same_values_as_single_requests() {
    let service = Service::start().await;
    let values = [
        r#"{"name": "it's \\ \"x\" {},", "visits": 12345678901234567890123.450}"#,
        r#"{"tags": [], "tier": ["silver", "gold"]}"#,
        r#"{"tags": ["a,b", "{}", "\"", "\\", "NULL", "", " x "], "tier": null}"#,
        r#"{"born": "0001-01-01", "seen": "9999-12-31T23:59:59.999999Z", "name": null}"#,
        r#"{"mood": [{"at": "2024-02-29T00:00:00Z", "value": 1.5}, 2]}"#,
    ];
    for (number, attributes) in values.iter().enumerate() {
        let alone = format!(r#"{{"external_key": "alone {number}", "attributes": {attributes}}}"#);
        service.send_text("POST", "/entities/template/customers", alone).await.expect(201);
        // Two operations of the same shape are written by one statement, and a third one separately.
        let operation = |op: &str, key: &str| {
            format!(
                r#"{{"op": "{op}", "template": "customers", "external_key": "{key} {number}", "attributes": {attributes}}}"#
            )
        };
        let operations = [
            operation("upsert", "a"),
            operation("upsert", "b"),
            operation("create", "c"),
            operation("create", "d"),
        ]
        .join(", ");
        let response = service
            .send_text("POST", "/entities/batch", format!(r#"{{"operations": [{operations}]}}"#))
            .await
            .expect(200);
        assert_eq!(response["errors"], false, "{response}");
        let text = |response: Response| {
            response.text.split_once("\"attributes\":").map(|parts| parts.1.to_owned()).unwrap_or_default()
        };
        let expected = text(service.by_key(&format!("alone {number}")).await);
        for key in ["a", "b", "c", "d"] {
            assert_eq!(text(service.by_key(&format!("{key} {number}")).await), expected, "{attributes}");
        }
    }
}
