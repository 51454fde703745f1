//! Batches under a scope: each operation behaves like a single request.

use crate::sales::Sales;
use harness::Session;
use serde_json::{Value, json};

async fn batch(session: &Session, operations: &[Value], atomic: bool) -> Value {
    let operations: Vec<Value> = operations.iter().map(of_customers).collect();
    let atomic = if atomic { "true" } else { "false" };
    session.json(&format!("select keyed.batch($1, {atomic})"), &[&json!(operations).to_string()]).await
}

fn of_customers(operation: &Value) -> Value {
    let mut operation = operation.clone();
    operation["template"] = json!("crm.customers");
    operation
}

fn upsert(key: &str, attributes: Value) -> Value {
    json!({"op": "upsert", "external_key": key, "attributes": attributes})
}

fn statuses(result: &Value) -> Vec<u64> {
    result["results"].as_array().into_iter().flatten().filter_map(|it| it["status"].as_u64()).collect()
}

#[tokio::test]
async fn batch_operation_equals_a_single_request() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let (hidden, seen) = (sales.id("US-1").await, sales.id("EU-1").await);
    let eu = json!({"region": "EU"});
    let operations = [
        (json!({"op": "create", "external_key": "EU-7", "attributes": eu}), 201, ""),
        (json!({"op": "create", "external_key": "US-7", "attributes": {"region": "US"}}), 403, "forbidden"),
        (json!({"op": "create", "external_key": "US-1", "attributes": eu}), 409, "external_key_taken"),
        (json!({"op": "update", "id": hidden, "attributes": eu}), 404, "not_found"),
        (json!({"op": "update", "external_key": "US-1", "attributes": eu}), 404, "not_found"),
        (json!({"op": "update", "id": seen, "attributes": {"region": "US"}}), 403, "forbidden"),
        (json!({"op": "update", "id": seen, "attributes": {"name": "y"}}), 200, ""),
        (json!({"op": "delete", "id": hidden}), 404, "not_found"),
        (json!({"op": "delete", "external_key": "US-1"}), 404, "not_found"),
        (upsert("US-1", json!({"region": "EU", "name": "z"})), 409, "external_key_taken"),
        (upsert("EU-2", json!({"region": "US", "name": "z"})), 403, "forbidden"),
        (upsert("EU-2", json!({"name": "z"})), 200, ""),
        (upsert("US-8", json!({"name": "z"})), 403, "forbidden"),
        (upsert("EU-8", json!({"region": "EU"})), 201, ""),
        (json!({"op": "delete", "external_key": "EU-8"}), 200, ""),
    ];
    let all: Vec<Value> = operations.iter().map(|it| it.0.clone()).collect();
    let result = batch(&session, &all, false).await;
    for ((operation, status, code), result) in
        operations.iter().zip(result["results"].as_array().expect("results"))
    {
        let is_as_expected = result["status"] == *status || *status == 200 && result["status"] == 204;
        assert!(is_as_expected, "{operation} answered {result}");
        assert_eq!(
            result["error"]["code"].as_str().unwrap_or_default(),
            *code,
            "{operation} answered {result}"
        );
        assert_eq!(result["error"]["existing_id"], Value::Null, "{result}");
    }
    let us = "select string_agg(external_key || ' ' || name, ', ' order by external_key) from crm.customers where region = 'US' and deleted_at is null";
    assert_eq!(sales.admin.text(us, &[]).await, "US-1 Customer US-1, US-2 Customer US-2");

    // In an atomic batch, the first rejected operation rolls all back.
    let before = sales.state().await;
    for (operation, status, code) in operations.iter().filter(|it| !it.2.is_empty()) {
        let operations =
            json!([of_customers(&upsert("EU-9", eu.clone())), of_customers(operation)]).to_string();
        let error = session.error("select keyed.batch($1, true)", &[&operations]).await;
        assert_eq!(error.detail["code"], *code, "{operation} ({status}): {error}");
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn denied_operations_do_not_affect_others_of_a_batch() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update").await;
    for op in ["create", "upsert"] {
        let operation = |number: usize| {
            let region = if number % 10 == 3 { "US" } else { "EU" };
            let key = if number == 5 { "US-1".to_owned() } else { format!("{op}-{number}") };
            json!({"op": op, "external_key": key, "attributes": {"region": region, "name": "n"}})
        };
        let operations: Vec<Value> = (0..30).map(operation).collect();
        let expected: Vec<u64> = (0..30)
            .map(|number| {
                if number % 10 == 3 {
                    403
                } else if number == 5 {
                    409
                } else {
                    201
                }
            })
            .collect();
        assert_eq!(statuses(&batch(&session, &operations, false).await), expected, "{op}");
        let written = format!("select count(*) from crm.customers where external_key like '{op}-%'");
        assert_eq!(sales.admin.text(&written, &[]).await, "26", "{op}");
    }
    let us = sales.admin.text("select name from crm.customers where external_key = 'US-1'", &[]).await;
    assert_eq!(us, "Customer US-1");
}

#[tokio::test]
async fn unchanged_writes_disclose_no_invisible_record() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update").await;
    sales
        .admin
        .run("update crm.customers set name = 'same', region = 'EU' where external_key = 'EU-1'")
        .await;
    // US-1 has exactly the values that are sent, except for its region, which is outside the scope.
    sales.admin.run("update crm.customers set name = 'same' where external_key = 'US-1'").await;
    let operations: Vec<Value> = ["EU-1", "US-1", "EU-2"]
        .iter()
        .map(|key| upsert(key, json!({"name": "same", "region": if *key == "US-1" { "US" } else { "EU" }})))
        .collect();
    let result = batch(&session, &operations, false).await;
    assert_eq!(statuses(&result), [200, 409, 200], "{result}");
    assert!(!result.to_string().contains(&sales.id("US-1").await), "{result}");
}

#[tokio::test]
async fn cyclic_references_are_created_within_the_scope() {
    let sales = Sales::new().await;
    sales
        .admin
        .run("select keyed.add_attribute('crm.customers', '{\"slug\": \"friend\", \"type\": \"reference\", \"template\": \"customers\"}')")
        .await;
    let session = sales.european("read, create, update").await;
    let friends = |region: &str| {
        [("A", "B"), ("B", "A")].map(|(key, friend)| {
            json!({"op": "create", "external_key": key,
                   "attributes": {"region": region, "friend": {"external_key": friend}}})
        })
    };
    let result = batch(&session, &friends("US"), false).await;
    assert!(statuses(&result).iter().all(|status| *status >= 400), "{result}");
    assert_eq!(statuses(&batch(&session, &friends("EU"), true).await), [201, 201]);
    let linked =
        "select count(*) from crm.customers a join crm.customers b on a.friend = b.id and b.friend = a.id";
    assert_eq!(session.text(linked, &[]).await, "2");
    let hidden = json!({"op": "upsert", "external_key": "C", "attributes": {"region": "EU", "friend": {"external_key": "US-1"}}});
    assert_eq!(statuses(&batch(&session, &[hidden], false).await), [422]);
}
