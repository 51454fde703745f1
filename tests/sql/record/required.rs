//! Required attributes and defaults.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

async fn with_orders() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let attributes = json!([
        {"slug": "number", "type": "string", "required": true},
        {"slug": "total", "type": "number", "required": true, "default": 1.50},
        {"slug": "state", "type": "list", "options": ["open", "paid"], "default": "open"},
        {"slug": "due", "type": "date", "default": "2024-02-29"},
        {"slug": "seen", "type": "datetime", "default": "2024-02-29T00:00:00+01:00"},
        {"slug": "note", "type": "string", "default": "it's \\ fine"},
    ]);
    session.rows("select keyed.create_template('crm', 'orders', $1)", &[&attributes.to_string()]).await;
    (database, session)
}

async fn create(session: &Session, attributes: Value) -> Value {
    session.json("select keyed.create_record('crm.orders', $1, 'O-1')", &[&attributes.to_string()]).await
}

#[tokio::test]
async fn record_created_without_a_value_gets_the_default() {
    let (_database, session) = with_orders().await;
    let made = create(&session, json!({"number": "1"})).await;
    assert_eq!(
        made["attributes"],
        json!({
            "number": "1", "total": 1.50, "state": ["open"], "due": "2024-02-29", "seen": "2024-02-28T23:00:00Z",
            "note": "it's \\ fine"
        })
    );
    session.run("insert into crm.orders (external_key, number) values ('O-2', '2')").await;
    let direct = session.json("select keyed.get_by_key('crm.orders', 'O-2') -> 'attributes'", &[]).await;
    assert_eq!((&direct["total"], &direct["due"]), (&json!(1.50), &json!("2024-02-29")));
}

#[tokio::test]
async fn explicit_null_and_upsert_do_not_apply_the_default() {
    let (_database, session) = with_orders().await;
    let made = create(&session, json!({"number": "1", "state": null, "due": "2025-01-01"})).await;
    assert_eq!(made["attributes"]["state"], Value::Null);
    session.run(r#"select keyed.upsert_by_key('crm.orders', 'O-1', '{"note": "x"}')"#).await;
    let now = session.json("select keyed.get_by_key('crm.orders', 'O-1') -> 'attributes'", &[]).await;
    assert_eq!((&now["state"], &now["due"], &now["note"]), (&Value::Null, &json!("2025-01-01"), &json!("x")));
}

#[tokio::test]
async fn required_attribute_cannot_be_absent_or_null() {
    let (_database, session) = with_orders().await;
    for attributes in ["{}", r#"{"number": null}"#, r#"{"total": 2}"#] {
        for statement in [
            "select keyed.create_record('crm.orders', $1)",
            "select keyed.upsert_by_key('crm.orders', 'O-9', $1)",
        ] {
            let error = session.error(statement, &[attributes]).await;
            assert_eq!(error.codes(), ("22023", "required_attribute"), "{statement}");
            assert_eq!(error.pointers(), ["/attributes/number"], "{statement}");
        }
    }
    let made = create(&session, json!({"number": "1"})).await;
    for body in [r#"{"attributes": {"number": null}}"#, r#"{"attributes": {"total": null}}"#] {
        let error = session.error("select keyed.patch_record($1, $2)", &[id_of(&made), body]).await;
        assert_eq!(error.codes(), ("22023", "required_attribute"));
    }
    let replace =
        session.error("select keyed.replace_attributes($1, '{\"number\": \"2\"}')", &[id_of(&made)]).await;
    assert_eq!(
        (replace.codes(), replace.pointers()),
        (("22023", "required_attribute"), vec!["/attributes/total"])
    );
    assert_eq!(session.error("insert into crm.orders default values", &[]).await.state, "23502");
    assert_eq!(session.error("update crm.orders set number = null", &[]).await.state, "23502");
}

#[tokio::test]
async fn update_can_omit_required_attributes() {
    let (_database, session) = with_orders().await;
    create(&session, json!({"number": "1", "total": 7})).await;
    let upsert = "select created from keyed.upsert_by_key('crm.orders', 'O-1', $1)";
    for attributes in [r#"{"note": "x"}"#, "{}", r#"{"total": {"$inc": 1}}"#] {
        assert_eq!(session.text(upsert, &[attributes]).await, "f");
    }
    let now = session.json("select keyed.get_by_key('crm.orders', 'O-1') -> 'attributes'", &[]).await;
    assert_eq!((&now["number"], &now["total"], &now["note"]), (&json!("1"), &json!(8), &json!("x")));
}

#[tokio::test]
async fn increment_of_a_new_record_starts_from_0() {
    let (_database, session) = with_orders().await;
    let made = create(&session, json!({"number": "1", "total": {"$inc": 2}})).await;
    assert_eq!(made["attributes"]["total"], 2);
}
