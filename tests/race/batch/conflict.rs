//! Atomic batches with keys that concurrent transactions create.

use crate::{Waiting, first_row};
use harness::{Database, Session};
use serde_json::{Value, json};

fn upsert(key: &str, attributes: Value) -> Value {
    json!({"op": "upsert", "template": "crm.customers", "external_key": key, "attributes": attributes})
}

/// The outcome of a batch that waits at the key K for another session, which then commits. Both operations are run by
/// one statement, or each by its own.
async fn meet(
    database: &Database,
    before: &str,
    other: &str,
    call: &str,
    operations: &Value,
) -> Result<Value, (String, Value)> {
    let (first, observer) = (database.session().await, database.session().await);
    first.run("delete from crm.customers").await;
    first.run(before).await;
    first.run(&format!("begin; {other}")).await;
    let operations = operations.to_string();
    let waiting = Waiting::start(database.session().await, &observer, call, &[&operations]).await;
    first.run("commit").await;
    match waiting.outcome().await {
        Ok(rows) => Ok(serde_json::from_str(&first_row(&rows)[0]).expect("a report")),
        Err(error) => Err((error.state.clone(), error.detail)),
    }
}

async fn names(session: &Session) -> String {
    let names = "select coalesce(string_agg(external_key || '=' || coalesce(name, ''), ' ' order by external_key), '')
                 from crm.customers where deleted_at is null";
    session.text(names, &[]).await
}

const ATOMIC: &str = "select keyed.batch($1, true)";
const CREATE: &str = "select keyed.create_record('crm.customers', '{\"name\": \"other\"}', 'K')";

#[tokio::test]
async fn atomic_batch_fails_if_a_free_key_is_taken() {
    let database = Database::with_crm().await;
    let observer = database.session().await;
    for operations in [
        // By one statement for both, by one for each, and with the values that the other session wrote.
        json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"name": "b"}))]),
        json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"visits": {"$inc": 1}}))]),
        json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"name": "other"}))]),
        json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"mood": 1}))]),
        json!([upsert("A", json!({})), upsert("K", json!({}))]),
    ] {
        let (state, detail) = meet(&database, "", CREATE, ATOMIC, &operations).await.expect_err("a refusal");
        assert_eq!(state, "23505", "{operations}");
        assert_eq!(
            (&detail["code"], &detail["failed_index"], &detail["retryable"]),
            (&json!("external_key_taken"), &json!(1), &json!(true))
        );
        assert_eq!(detail["errors"][0]["pointer"], "/operations/1/external_key");
        assert_eq!(names(&observer).await, "K=other", "{operations}: nothing is written");
        // When the batch is sent again, it finds the record.
        let report = observer.json(ATOMIC, &[&operations.to_string()]).await;
        assert_eq!((&report["errors"], &report["results"][1]["created"]), (&json!(false), &json!(false)));
    }
}

#[tokio::test]
async fn batch_with_conflict_wait_updates_concurrently_created_records() {
    let database = Database::with_crm().await;
    let observer = database.session().await;
    let operations = json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"name": "b"}))]);
    for call in [
        "select keyed.batch($1, true, 'wait')",
        "select keyed.batch($1)",
        "select keyed.batch($1, false, 'wait')",
    ] {
        let report = meet(&database, "", CREATE, call, &operations).await.expect("a report");
        assert_eq!(
            (&report["errors"], &report["results"][1]["created"]),
            (&json!(false), &json!(false)),
            "{call}"
        );
        assert_eq!(names(&observer).await, "A=a K=b");
    }
    let error = observer.error("select keyed.batch($1, false, 'fail')", &[&operations.to_string()]).await;
    assert_eq!(error.detail["errors"][0]["pointer"], "/conflict");
    let error = observer.error("select keyed.batch($1, true, 'ignore')", &[&operations.to_string()]).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"));
}

#[tokio::test]
async fn key_used_before_the_batch_is_no_conflict() {
    let database = Database::with_crm().await;
    let operations = json!([upsert("A", json!({"name": "a"})), upsert("K", json!({"name": "b"}))]);
    for (other, created) in [
        ("update crm.customers set name = 'changed'", false),
        ("update crm.customers set deleted_at = now()", true),
        (
            "update crm.customers set deleted_at = now(); select keyed.create_record('crm.customers', '{}', 'K')",
            false,
        ),
    ] {
        let report = meet(&database, CREATE, other, ATOMIC, &operations).await.expect("a report");
        assert_eq!(
            (&report["errors"], &report["results"][1]["created"]),
            (&json!(false), &json!(created)),
            "{other}"
        );
    }
}

#[tokio::test]
async fn records_created_by_the_same_transaction_are_no_conflict() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let id = session.text("select keyed.create_record('crm.customers') ->> 'id'", &[]).await;
    let rename = json!({"op": "update", "id": id, "template": "crm.customers", "external_key": "R"});
    let operations = json!([
        upsert("K", json!({"name": "a"})), upsert("K", json!({"visits": {"$inc": 1}})), upsert("K", json!({"name": "b"})),
        {"op": "create", "template": "crm.customers", "external_key": "N"}, upsert("N", json!({"name": "c"})),
        rename, upsert("R", json!({"name": "d"})), upsert("T", json!({"name": "e"})),
    ]);
    session.run("begin; select keyed.create_record('crm.customers', '{}', 'T')").await;
    let report = session.json(ATOMIC, &[&operations.to_string()]).await;
    session.run("commit").await;
    assert_eq!(report["errors"], false, "{report}");
    assert_eq!(names(&session).await, "K=b N=c R=d T=e");
}
