//! `keyed.upsert_by_key` creates or changes a record in one call.

use harness::customers::HISTORY;
use harness::{Database, Session};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

/// Upserts the customer `A-1`; returns the id and `created`.
async fn upsert(session: &Session, attributes: &Value) -> (String, bool) {
    let statement = "select id, created from keyed.upsert_by_key('crm.customers', 'A-1', $1)";
    let row = session.rows(statement, &[&attributes.to_string()]).await.remove(0);
    let [Some(id), Some(created)] = row.as_slice() else { panic!("no id and created but {row:?}") };
    (id.clone(), created == "t")
}

async fn attributes(session: &Session) -> Value {
    session.json("select keyed.get_by_key('crm.customers', 'A-1') -> 'attributes'", &[]).await
}

#[tokio::test]
async fn upsert_creates_then_updates_the_same_record() {
    let (_database, session) = crm().await;
    let (id, created) = upsert(&session, &json!({"name": "Ada"})).await;
    assert!(created);
    for name in ["Bea", "Bea", "Cleo"] {
        assert_eq!(upsert(&session, &json!({"name": name})).await, (id.clone(), false));
        assert_eq!(attributes(&session).await["name"], name);
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "1");
}

#[tokio::test]
async fn upsert_changes_only_listed_attributes() {
    let (_database, session) = crm().await;
    upsert(&session, &json!({"name": "Ada", "visits": 3, "tags": ["x"]})).await;
    upsert(&session, &json!({"visits": null, "born": "1815-12-10"})).await;
    let now = attributes(&session).await;
    assert_eq!((&now["name"], &now["tags"]), (&json!("Ada"), &json!(["x"])));
    assert_eq!((&now["visits"], &now["born"]), (&Value::Null, &json!("1815-12-10")));
}

#[tokio::test]
async fn increment_adds_to_new_and_existing_records() {
    let (_database, session) = crm().await;
    for (amount, expected) in [("2", "2"), ("0.1", "2.1"), ("0.2", "2.3"), ("-12.30", "-10.00")] {
        let increment = format!(r#"{{"visits": {{"$inc": {amount}}}}}"#);
        session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&increment]).await;
        assert_eq!(session.text("select visits from crm.customers", &[]).await, expected);
    }
    upsert(&session, &json!({"visits": null})).await;
    upsert(&session, &json!({"visits": {"$inc": 5}})).await;
    assert_eq!(attributes(&session).await["visits"], 5);
}

#[tokio::test]
async fn increment_by_a_non_number_is_rejected() {
    let (_database, session) = crm().await;
    for attributes in [
        json!({"visits": {"$inc": "1"}}),
        json!({"visits": {"$inc": null}}),
        json!({"visits": {"$inc": {"$inc": 1}}}),
        json!({"visits": {"$dec": 1}}),
        json!({"visits": {"$inc": 1, "$min": 2}}),
        json!({"visits": {}}),
        json!({"name": {"$inc": 1}}),
        json!({"tags": {"$inc": 1}}),
        json!({"born": {"$inc": 1}}),
    ] {
        let upsert = "select keyed.upsert_by_key('crm.customers', 'A-1', $1)";
        assert_eq!(
            session.error(upsert, &[&attributes.to_string()]).await.codes(),
            ("22023", "invalid_value")
        );
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0");
}

#[tokio::test]
async fn upsert_without_a_change_leaves_no_trace() {
    let (_database, session) = crm().await;
    let company = session
        .text("select id from keyed.upsert_by_key('crm.companies', 'C', '{\"name\": \"c\"}')", &[])
        .await;
    let values = json!({
        "name": "Ada", "visits": 1.5, "tags": ["x", "y"], "tier": ["gold"], "born": "1815-12-10",
        "seen": "2024-02-29T12:00:00.5+02:00", "company": company, "active": false
    });
    upsert(&session, &values).await;
    let before = session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    let version = "select xmin::text || ctid::text from crm.customers";
    let stored = session.text(version, &[]).await;
    for same in
        [values, json!({}), json!({"name": "Ada"}), json!({"company": {"external_key": "C"}, "tier": "gold"})]
    {
        assert!(!upsert(&session, &same).await.1);
    }
    assert_eq!(session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await, before);
    assert_eq!(session.text("select count(*) from keyed.history($1)", &[harness::id_of(&before)]).await, "1");
    assert_eq!(session.text(version, &[]).await, stored, "the row was rewritten");
}

#[tokio::test]
async fn equal_number_in_another_form_is_no_change() {
    let (_database, session) = crm().await;
    upsert(&session, &json!({"visits": 1})).await;
    let version = "select xmin::text || ctid::text from crm.customers";
    let stored = session.text(version, &[]).await;
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"visits": 1.00}')"#).await;
    assert_eq!(session.text(version, &[]).await, stored, "the row was rewritten");
}

#[tokio::test]
async fn upsert_of_a_released_key_creates_a_new_record() {
    let (_database, session) = crm().await;
    let (old, _) = upsert(&session, &json!({"name": "Ada"})).await;
    session.rows("select keyed.delete_record($1)", &[&old]).await;
    let (new, created) = upsert(&session, &json!({})).await;
    assert!(created && new != old);
    assert_eq!(attributes(&session).await["name"], Value::Null);
}

#[tokio::test]
async fn upsert_without_a_key_is_rejected() {
    let (_database, session) = crm().await;
    let error = session.error("select keyed.upsert_by_key('crm.customers', null, '{}')", &[]).await;
    assert_eq!(error.state, "22023");
    assert_eq!(error.pointers(), ["/external_key"]);
}

#[tokio::test]
async fn rejected_upsert_changes_nothing() {
    let (_database, session) = crm().await;
    upsert(&session, &json!({"name": "Ada", "mood": 1})).await;
    let rejected = r#"{"name": "Bea", "mood": 2, "visits": "three"}"#;
    let error = session.error("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[rejected]).await;
    assert_eq!(error.pointers(), ["/attributes/visits"]);
    assert_eq!(
        (&attributes(&session).await["name"], &attributes(&session).await["mood"]),
        (&json!("Ada"), &json!(1))
    );
    assert_eq!(
        session.text("select count(*) from keyed.history((select id from crm.customers))", &[]).await,
        "1"
    );
}

#[tokio::test]
async fn upserts_in_one_statement_see_earlier_ones() {
    let (_database, session) = crm().await;
    let statement = "select count(*) filter (where u.created), count(distinct u.id)
                     from generate_series(1, 100) n,
                     keyed.upsert_by_key('crm.customers', 'k' || n % 10, '{\"visits\": {\"$inc\": 1}}') u";
    assert_eq!(session.rows(statement, &[]).await, [[Some("10".to_owned()), Some("10".to_owned())]]);
    assert_eq!(
        session.text("select string_agg(distinct visits::text, ',') from crm.customers", &[]).await,
        "10"
    );
}

#[tokio::test]
async fn upsert_compares_with_earlier_writes_of_its_statement() {
    let (_database, session) = crm().await;
    upsert(&session, &json!({"name": "Ada", "visits": 1})).await;
    // The second call restores the value that the record had when the statement started.
    let statement = "select count(*) from (values (1, 2), (2, 1)) v (place, visits), \
                     lateral keyed.upsert_by_key('crm.customers', 'A-1', jsonb_build_object('visits', visits))";
    session.run(statement).await;
    assert_eq!(attributes(&session).await["visits"], 1);
    let versions = &format!("select count(*) from {HISTORY}");
    assert_eq!(session.text(versions, &[]).await, "3");
}

#[tokio::test]
async fn read_only_transaction_rejects_unchanged_upserts() {
    let (_database, session) = crm().await;
    upsert(&session, &json!({"name": "Ada"})).await;
    session.run("begin read only").await;
    let error =
        session.error("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\"}')", &[]).await;
    assert_eq!(error.state, "25006");
    session.run("rollback; begin isolation level repeatable read").await;
    assert!(!upsert(&session, &json!({"name": "Ada"})).await.1);
    session.run("commit").await;
}
