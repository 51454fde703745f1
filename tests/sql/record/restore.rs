//! Restore of a deleted record.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// A deleted record that held the key `A-1`.
async fn deleted() -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let create = "select keyed.create_record('crm.customers', '{\"name\": \"Ada\", \"visits\": 3}', 'A-1')";
    let record = session.json(create, &[]).await;
    session.rows("select keyed.delete_record($1)", &[id_of(&record)]).await;
    (database, session, record)
}

#[tokio::test]
async fn restored_record_has_its_values_and_its_key_again() {
    let (_database, session, record) = deleted().await;
    let restored = session.json("select keyed.restore_record($1)", &[id_of(&record)]).await;
    assert_eq!((&restored["deleted_at"], &restored["external_key"]), (&Value::Null, &json!("A-1")));
    assert_eq!(restored["attributes"], record["attributes"]);
    assert_eq!(session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await, restored);
    let history = "select string_agg(operation, ' ' order by version) from keyed.history($1)";
    assert_eq!(session.text(history, &[id_of(&record)]).await, "create delete restore");
}

#[tokio::test]
async fn restore_does_not_take_over_a_key_in_use() {
    let (_database, session, record) = deleted().await;
    let holder = session.text("select id from keyed.upsert_by_key('crm.customers', 'A-1')", &[]).await;
    for body in ["{}", r#"{"external_key": "A-1"}"#, r#"{"external_key": " A-1 "}"#] {
        let error = session.error("select keyed.restore_record($1, $2)", &[id_of(&record), body]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{body}");
        assert_eq!(error.detail["existing_id"], json!(holder), "{body}");
    }
    let state = "select deleted_at is not null from crm.customers where id = $1";
    assert_eq!(session.text(state, &[id_of(&record)]).await, "t");
}

#[tokio::test]
async fn record_can_be_restored_with_another_key_or_with_none() {
    for (body, key) in
        [(r#"{"external_key": " A-2 "}"#, json!("A-2")), (r#"{"external_key": null}"#, Value::Null)]
    {
        let (_database, session, record) = deleted().await;
        session.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
        let restored = session.json("select keyed.restore_record($1, $2)", &[id_of(&record), body]).await;
        assert_eq!((&restored["external_key"], &restored["id"]), (&key, &record["id"]));
    }
}

#[tokio::test]
async fn record_without_a_key_is_restored_without_one() {
    let (_database, session, _) = deleted().await;
    let record = session.json("select keyed.create_record('crm.customers')", &[]).await;
    session.rows("select keyed.delete_record($1)", &[id_of(&record)]).await;
    let restored = session.json("select keyed.restore_record($1)", &[id_of(&record)]).await;
    assert_eq!((&restored["deleted_at"], &restored["external_key"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn live_record_cannot_be_restored() {
    let (_database, session, record) = deleted().await;
    session.json("select keyed.restore_record($1)", &[id_of(&record)]).await;
    let error = session.error("select keyed.restore_record($1)", &[id_of(&record)]).await;
    assert_eq!(error.codes(), ("23505", "conflict"));
}
