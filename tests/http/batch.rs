//! POST /entities/batch.

use harness::{Answer, Service, id_of};
use serde_json::{Value, json};

async fn batch(service: &Service, atomic: bool, operations: Value) -> Answer {
    service.post("/entities/batch", json!({"atomic": atomic, "operations": operations})).await
}

fn upsert(key: &str, attributes: Value) -> Value {
    json!({"op": "upsert", "template": "customers", "external_key": key, "attributes": attributes})
}

/// How many rows there are of everything that a write leaves behind.
async fn traces(service: &Service) -> String {
    let counts = "select (select count(*) from crm.customers) || ' ' || (select count(*) from keyed_state.history_2) || ' '
                  || (select count(*) from keyed_state.metric_2)";
    service.session().await.text(counts, &[]).await
}

#[tokio::test]
async fn results_stand_in_the_order_of_the_request_each_with_its_status() {
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
    service.get(&format!("/entities/{}", id_of(&gone))).await.refused(404, "not_found");
}

#[tokio::test]
async fn the_same_key_twice_is_created_once_and_written_in_order() {
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
async fn a_refused_operation_has_its_own_problem_and_leaves_the_others_alone() {
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
    service.session().await.run("reindex table crm.customers; reindex table keyed_state.history_2").await;
}

#[tokio::test]
async fn of_an_atomic_batch_with_a_refused_operation_nothing_is_written() {
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
        let refusal = batch(&service, true, json!(operations)).await.refused(status, code);
        assert_eq!(refusal["failed_index"], 250, "{refusal}");
        assert_eq!(refusal["errors"][0]["pointer"].as_str().unwrap_or_default(), pointer, "{refusal}");
        assert_eq!((traces(&service).await, service.by_key("K-1").await.expect(200)), before);
    }
}

#[tokio::test]
async fn a_batch_may_refer_to_records_that_it_makes_itself_in_any_order() {
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
            // Forward, back, to itself, and round in a circle.
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
async fn keys_change_hands_within_a_batch_only_over_a_moment_without() {
    let service = Service::start().await;
    let [one, two] = [
        service.create(json!({"external_key": "1"})).await,
        service.create(json!({"external_key": "2"})).await,
    ];
    let set = |record: &Value, key: Value| json!({"op": "update", "template": "customers", "id": record["id"], "external_key": key});
    let swap = json!([set(&one, json!("2")), set(&two, json!("1"))]);
    batch(&service, true, swap).await.refused(409, "external_key_taken");
    assert_eq!(service.by_key("1").await.expect(200)["id"], one["id"]);
    let over_null = json!([set(&one, Value::Null), set(&two, json!("1")), set(&one, json!("2"))]);
    assert_eq!(batch(&service, true, over_null).await.expect(200)["errors"], false);
    assert_eq!(service.by_key("1").await.expect(200)["id"], two["id"]);
    assert_eq!(service.by_key("2").await.expect(200)["id"], one["id"]);
}

#[tokio::test]
async fn a_batch_that_makes_no_sense_is_refused_as_a_whole() {
    let service = Service::start().await;
    assert_eq!(batch(&service, false, json!([])).await.expect(200), json!({"errors": false, "results": []}));
    let too_many: Value = (0..1001).map(|n| upsert(&format!("K-{n}"), json!({}))).collect();
    batch(&service, false, too_many).await.refused(413, "payload_too_large");
    for (body, code, pointer) in [
        (json!({}), "invalid_value", "/operations"),
        (json!({"operations": {}}), "invalid_value", "/operations"),
        (json!({"operations": [], "atomic": "yes"}), "invalid_value", "/atomic"),
        (json!({"operations": [], "mode": "fast"}), "unknown_field", "/mode"),
    ] {
        let refusal = service.post("/entities/batch", body).await.refused(422, code);
        assert_eq!(refusal["errors"][0]["pointer"], pointer);
    }
    for body in ["[]", "{", ""] {
        service.send_text("POST", "/entities/batch", body).await.refused(400, "malformed_request");
    }
    assert_eq!(traces(&service).await, "0 0 0");
}

#[tokio::test]
async fn an_operation_that_makes_no_sense_is_refused_with_its_place() {
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
async fn values_written_by_a_batch_are_those_written_one_by_one() {
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
        // Two of one shape are written by one statement, and a third by another way.
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
        let answer = service
            .send_text("POST", "/entities/batch", format!(r#"{{"operations": [{operations}]}}"#))
            .await
            .expect(200);
        assert_eq!(answer["errors"], false, "{answer}");
        let text = |answer: Answer| {
            answer.text.split_once("\"attributes\":").map(|parts| parts.1.to_owned()).unwrap_or_default()
        };
        let expected = text(service.by_key(&format!("alone {number}")).await);
        for key in ["a", "b", "c", "d"] {
            assert_eq!(text(service.by_key(&format!("{key} {number}")).await), expected, "{attributes}");
        }
    }
}

#[tokio::test]
async fn a_batch_sees_no_more_than_its_key() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'secrets', '[{\"slug\": \"hidden\", \"type\": \"string\", \"required\": true}]')").await;
    let foreign =
        session.json("select keyed.create_record('shop.secrets', '{\"hidden\": \"x\"}', 'S-1')", &[]).await;
    let crm_key = service.database.api_key("keyed_admin", &["crm"]).await;
    let number = foreign["template_id"].as_str().expect("a number");
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
            json!({"op": "update", "id": foreign["id"], "attributes": {"zzz": 1}}),
            json!({"op": "update", "id": "00000000-0000-0000-0000-000000000000", "attributes": {"zzz": 1}}),
        ),
        (
            json!({"op": "update", "id": foreign["id"], "external_key": "x"}),
            json!({"op": "update", "id": "00000000-0000-0000-0000-000000000000", "external_key": "x"}),
        ),
        (
            json!({"op": "delete", "id": foreign["id"]}),
            json!({"op": "delete", "id": "00000000-0000-0000-0000-000000000000"}),
        ),
    ] {
        let mut answers = Vec::new();
        for operation in [&there, &missing] {
            let body = json!({"operations": [operation]});
            let answer =
                service.proxy.request("POST", "/v1/entities/batch").key(&crm_key).json(&body).send().await;
            assert!(!answer.text.contains("hidden"), "{there}: {}", answer.text);
            answers.push(answer.expect(200));
        }
        assert_eq!(answers[0], answers[1], "{there}");
        assert_eq!(answers[0]["results"][0]["status"], 404, "{there}");
    }
}
