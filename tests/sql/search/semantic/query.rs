//! Semantic search for users of SQL.

use harness::{Database, Session, array, similar, vector};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

/// Creates a customer with a vector and returns its id.
async fn customer(session: &Session, key: &str, attributes: Value, vector: &Value) -> String {
    let sql = "select keyed.create_record('crm.customers', $1, $2) ->> 'id'";
    let id = session.text(sql, &[&attributes.to_string(), key]).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(vector)]).await;
    id
}

async fn ask(session: &Session, query: Value) -> Value {
    let mut body = json!({"query_vector": vector(&[(0, 2.0)]), "template_id": "crm.customers"});
    for (name, value) in query.as_object().expect("members") {
        body[name] = value.clone();
    }
    session.json("select keyed.semantic_search($1)", &[&body.to_string()]).await
}

/// The found keys, each with its score, in order.
async fn found(session: &Session, query: Value) -> String {
    let result = ask(session, query).await;
    let entry = |it: &Value| {
        format!("{} {}", it["entity"]["external_key"].as_str().unwrap_or("-"), it["similarity_score"])
    };
    result.as_array().expect("an array").iter().map(entry).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn closest_records_come_first_with_similarity() {
    let (_database, session) = crm().await;
    for (key, similarity) in [("half", 0.5), ("same", 1.0), ("none", 0.0), ("opposite", -1.0), ("near", 0.9)]
    {
        customer(&session, key, json!({}), &similar(similarity)).await;
    }
    session.run("select keyed.create_record('crm.customers', '{}', 'without')").await;
    assert_eq!(found(&session, json!({})).await, "same 1, near 0.9, half 0.5, none 0, opposite 0");
    assert_eq!(found(&session, json!({"limit": 2})).await, "same 1, near 0.9");
}

#[tokio::test]
async fn threshold_is_the_minimum_similarity() {
    let (_database, session) = crm().await;
    for similarity in [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, -0.5] {
        customer(&session, &similarity.to_string(), json!({}), &similar(similarity)).await;
    }
    assert_eq!(found(&session, json!({"threshold": 1})).await, "1 1");
    assert_eq!(found(&session, json!({"threshold": 0.7})).await, "1 1, 0.9 0.9, 0.7 0.7");
    assert_eq!(found(&session, json!({"threshold": 0.700001})).await, "1 1, 0.9 0.9");
    assert_eq!(ask(&session, json!({"threshold": 0.1})).await.as_array().map(Vec::len), Some(6));
    assert_eq!(ask(&session, json!({"threshold": 0})).await.as_array().map(Vec::len), Some(7));
}

#[tokio::test]
async fn result_has_identity_and_values() {
    let (_database, session) = crm().await;
    let attributes = json!({"name": "Ada", "visits": 1.50, "tags": ["x"], "born": "1815-12-10"});
    let id = customer(&session, "A-1", attributes, &similar(0.25)).await;
    let values = json!({"name": {"value": "Ada"}, "visits": {"value": 1.50}, "mood": {"value": null},
                        "tags": {"value": ["x"]}, "tier": {"value": null}, "born": {"value": "1815-12-10"},
                        "seen": {"value": null}, "company": {"value": null}, "active": {"value": null}});
    let entity = json!({"id": id, "template_id": "2", "template_slug": "customers", "external_key": "A-1",
                        "attribute_values": values});
    assert_eq!(ask(&session, json!({})).await, json!([{"similarity_score": 0.25, "entity": entity}]));
}

#[tokio::test]
async fn equally_similar_records_are_ordered_by_id() {
    let (_database, session) = crm().await;
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(customer(&session, &number.to_string(), json!({}), &similar(0.5)).await);
    }
    ids.sort_unstable();
    let result = ask(&session, json!({"limit": 4})).await;
    let found: Vec<_> =
        result.as_array().expect("an array").iter().filter_map(|it| it["entity"]["id"].as_str()).collect();
    assert_eq!(found, ids[..4]);
}

#[tokio::test]
async fn filters_limit_the_results() {
    let (_database, session) = crm().await;
    for number in 1..=9 {
        let attributes = json!({"visits": number, "tier": if number % 2 == 0 { "gold" } else { "silver" }});
        customer(&session, &number.to_string(), attributes, &similar(f64::from(number) / 10.0)).await;
    }
    let gold = json!([{"field": "tier", "operator": "in", "value": "gold"}]);
    assert_eq!(found(&session, json!({"filters": gold})).await, "8 0.8, 6 0.6, 4 0.4, 2 0.2");
    let groups = json!([[{"field": "visits", "operator": "lt", "value": 3}], [{"field": "external_key", "operator": "eq", "value": "9"}]]);
    assert_eq!(found(&session, json!({"filter_groups": groups})).await, "9 0.9, 2 0.2, 1 0.1");
    assert_eq!(found(&session, json!({"filters": gold, "filter_groups": groups})).await, "2 0.2");
    let number = session.text("select id from keyed_state.attribute where slug = 'visits'", &[]).await;
    let by_number = json!([{"field": number, "operator": "eq", "value": "7"}]);
    assert_eq!(found(&session, json!({"filters": by_number, "attribute_key": "id"})).await, "7 0.7");
}

#[tokio::test]
async fn restored_records_are_found_again() {
    let (_database, session) = crm().await;
    let id = customer(&session, "A", json!({}), &similar(0.9)).await;
    customer(&session, "B", json!({}), &similar(0.5)).await;
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    assert_eq!(found(&session, json!({})).await, "B 0.5");
    session.rows("select keyed.restore_record($1)", &[&id]).await;
    assert_eq!(found(&session, json!({})).await, "A 0.9, B 0.5");
    session.rows("select keyed.set_embedding($1, null)", &[&id]).await;
    assert_eq!(found(&session, json!({})).await, "B 0.5");
}

#[tokio::test]
async fn vector_is_found_by_the_transaction_that_wrote_it() {
    let (_database, session) = crm().await;
    session.run("begin").await;
    customer(&session, "A", json!({}), &similar(0.5)).await;
    assert_eq!(found(&session, json!({})).await, "A 0.5");
    session.run("rollback").await;
    assert_eq!(found(&session, json!({})).await, "");
}

#[tokio::test]
async fn search_without_a_template_merges_all_templates() {
    let (_database, session) = crm().await;
    customer(&session, "near", json!({"name": "Ada"}), &similar(0.9)).await;
    customer(&session, "far", json!({}), &similar(0.1)).await;
    let company = "select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}', 'company') ->> 'id'";
    let id = session.text(company, &[]).await;
    session.rows("select keyed.set_embedding($1, $2)", &[&id, &array(&similar(0.5))]).await;
    let all = json!({"template_id": null});
    assert_eq!(found(&session, all.clone()).await, "near 0.9, company 0.5, far 0.1");
    let result = ask(&session, json!({"template_id": null, "limit": 2})).await;
    let slugs: Vec<_> = result
        .as_array()
        .expect("an array")
        .iter()
        .map(|it| it["entity"]["template_slug"].as_str())
        .collect();
    assert_eq!(slugs, [Some("customers"), Some("companies")]);
    let standard = json!([{"field": "external_key", "operator": "like", "value": "a"}]);
    assert_eq!(
        found(&session, json!({"template_id": null, "filters": standard})).await,
        "near 0.9, company 0.5, far 0.1"
    );
    let body = json!({"query_vector": similar(1.0), "filters": [{"field": "name", "operator": "eq", "value": "Ada"}]});
    let error = session.error("select keyed.semantic_search($1)", &[&body.to_string()]).await;
    assert_eq!(error.codes(), ("22023", "unknown_field"));
    assert!(error.hint.contains("template_id"), "{}", error.hint);
}

#[tokio::test]
async fn template_is_identified_by_id_or_with_its_project() {
    let (_database, session) = crm().await;
    customer(&session, "A", json!({}), &similar(0.5)).await;
    for name in ["2", "crm.customers", "1.customers"] {
        assert_eq!(found(&session, json!({"template_id": name})).await, "A 0.5", "{name}");
    }
    for name in ["3", "crm.nothing", "nothing.customers", "crm.", "02x", "crm.customers.x"] {
        let body = json!({"query_vector": similar(1.0), "template_id": name}).to_string();
        let error = session.error("select keyed.semantic_search($1)", &[&body]).await;
        assert_eq!(error.codes(), ("P0002", "not_found"), "{name}");
    }
    let body = json!({"query_vector": similar(1.0), "template_id": "customers"}).to_string();
    let error = session.error("select keyed.semantic_search($1)", &[&body]).await;
    assert_eq!(error.codes(), ("3F000", "project_required"));
}

#[tokio::test]
async fn invalid_request_is_rejected_with_its_pointer() {
    let (_database, session) = crm().await;
    let mut text = vector(&[(0, 1.0)]);
    text[17] = json!("x");
    for (query, code, pointer) in [
        (json!({"query_vector": [1, 2]}), "vector_dimension", "/query_vector"),
        (json!({"query_vector": vector(&[])}), "invalid_value", "/query_vector"),
        (json!({"query_vector": text}), "invalid_value", "/query_vector/17"),
        (json!({"limit": 0}), "invalid_value", "/limit"),
        (json!({"limit": 201}), "invalid_value", "/limit"),
        (json!({"threshold": 1.5}), "invalid_value", "/threshold"),
        (json!({"threshold": -0.5}), "invalid_value", "/threshold"),
        (json!({"query_text": "x"}), "unknown_field", "/query_text"),
        (
            json!({"filters": [{"field": "nothing", "operator": "eq", "value": "x"}]}),
            "unknown_field",
            "/filters/0/field",
        ),
        (
            json!({"filters": [{"field": "external_key", "operator": "gt", "value": "x"}]}),
            "operator_not_allowed",
            "/filters/0/operator",
        ),
        (json!({"time_zone": "Nowhere"}), "invalid_value", "/time_zone"),
    ] {
        let mut body = json!({"query_vector": vector(&[(0, 1.0)]), "template_id": "2"});
        for (name, value) in query.as_object().expect("members") {
            body[name] = value.clone();
        }
        let error = session.error("select keyed.semantic_search($1)", &[&body.to_string()]).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]));
    }
}

#[tokio::test]
async fn missing_pgvector_is_reported_with_a_hint() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run("drop extension vector").await;
    let _database = database.add_crm().await;
    for template in [json!("crm.customers"), Value::Null] {
        let body = json!({"query_vector": similar(1.0), "template_id": template}).to_string();
        let error = session.error("select keyed.semantic_search($1)", &[&body]).await;
        assert!(error.message.contains("pgvector") && error.hint.contains("keyed.init()"), "{error}");
    }
}
