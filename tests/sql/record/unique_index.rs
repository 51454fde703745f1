//! Unique indexes that a user has created, on a record table or on a table that a trigger writes to. Their violations
//! are not reported as key conflicts.

use harness::{Database, Session, SqlError};
use serde_json::json;

/// A unique index on the names, the record A named x, and the id of the record B named y.
async fn with_unique_names() -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("create unique index unique_name on crm.customers (name)").await;
    session.run("select keyed.upsert_by_key('crm.customers', 'A', '{\"name\": \"x\"}')").await;
    let id = session
        .text("select id from keyed.upsert_by_key('crm.customers', 'B', '{\"name\": \"y\"}')", &[])
        .await;
    (database, session, id)
}

const PATCH: &str = "select keyed.patch_record($1, $2)";

/// PostgreSQL's own error, as for a record without a key.
fn assert_is_of_index(error: &SqlError, index: &str) {
    assert_eq!(error.codes(), ("23505", ""), "{error}");
    assert!(error.message.contains(index), "{error}");
}

#[tokio::test]
async fn other_unique_violation_is_not_reported_as_a_key_conflict() {
    let (_database, session, id) = with_unique_names().await;
    for key in [json!("C"), json!("B"), json!(null)] {
        let body = json!({"external_key": key, "attributes": {"name": "x"}}).to_string();
        assert_is_of_index(&session.error(PATCH, &[&id, &body]).await, "unique_name");
    }
    let without = session.error(PATCH, &[&id, r#"{"attributes": {"name": "x"}}"#]).await;
    assert_is_of_index(&without, "unique_name");
    for body in [json!({"external_key": "A"}), json!({"external_key": "A", "attributes": {"name": "z"}})] {
        let error = session.error(PATCH, &[&id, &body.to_string()]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{body}");
    }
    let operation = |key: &str, name: &str| json!({"op": "update", "template": "crm.customers", "id": id, "external_key": key, "attributes": {"name": name}});
    let operations = json!([operation("C", "x"), operation("A", "z"), operation("D", "w")]).to_string();
    let report = session.json("select keyed.batch($1)", &[&operations]).await;
    let codes: Vec<_> = (0..3).map(|position| report["results"][position]["error"]["code"].clone()).collect();
    assert_eq!(codes, [json!("conflict"), json!("external_key_taken"), json!(null)], "{report}");
}

#[tokio::test]
async fn restore_distinguishes_key_conflicts_from_value_conflicts() {
    let (_database, session, id) = with_unique_names().await;
    // From here on, only the names of live records are unique.
    session
        .run("drop index crm.unique_name; create unique index unique_name on crm.customers (name) where deleted_at is null")
        .await;
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    session.run("select keyed.upsert_by_key('crm.customers', 'D', '{\"name\": \"y\"}')").await;
    for body in ["{}", r#"{"external_key": "C"}"#, r#"{"external_key": null}"#] {
        let error = session.error("select keyed.restore_record($1, $2)", &[&id, body]).await;
        assert_is_of_index(&error, "unique_name");
        assert!(!error.hint.contains("external_key"), "{error:?}");
    }
    session.run("select keyed.patch_record(id, '{\"attributes\": {\"name\": \"z\"}}') from crm.customers where external_key = 'D'").await;
    let error = session.error("select keyed.restore_record($1, '{\"external_key\": \"A\"}')", &[&id]).await;
    assert_eq!(error.codes(), ("23505", "external_key_taken"));
}

#[tokio::test]
async fn unique_violation_in_a_trigger_is_not_a_key_conflict() {
    let (_database, session, id) = with_unique_names().await;
    // A table with the column and index names of the record table.
    session
        .run(
            "create schema audit; create table audit.customers (external_key text, constraint customers_external_key_idx unique (external_key));
             create function audit.note() returns trigger language plpgsql security definer as $$ begin
               insert into audit.customers values (new.external_key); return null; end $$;
             create trigger zz_note after update on crm.customers for each row execute function audit.note();
             insert into audit.customers values ('C')",
        )
        .await;
    let error = session.error(PATCH, &[&id, r#"{"external_key": "C"}"#]).await;
    assert_is_of_index(&error, "customers_external_key_idx");
    let error = session.error(PATCH, &[&id, r#"{"external_key": "A"}"#]).await;
    assert_eq!(error.codes(), ("23505", "external_key_taken"));
}

#[tokio::test]
async fn key_conflict_invisible_to_the_snapshot_is_a_serialization_failure() {
    let (database, session, id) = with_unique_names().await;
    session.run("begin isolation level repeatable read; select count(*) from crm.customers").await;
    let other = database.session().await;
    other.run("select keyed.create_record('crm.customers', '{\"name\": \"z\"}', 'C')").await;
    session.run("savepoint before").await;
    let error = session.error(PATCH, &[&id, r#"{"external_key": "C"}"#]).await;
    assert_eq!(error.codes(), ("40001", "unavailable"), "{error}");
    session.run("rollback to before").await;
    let body = r#"{"external_key": "E", "attributes": {"name": "z"}}"#;
    assert_is_of_index(&session.error(PATCH, &[&id, body]).await, "unique_name");
}
