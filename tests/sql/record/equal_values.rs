//! A write of an equal value changes nothing, whatever its form and its entry point.

use harness::{Database, Session};
use serde_json::json;

const VALUES: &str = r#"{"name": "Ada", "visits": 1, "tags": ["a", "b"]}"#;

async fn ada() -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.rows("select keyed.create_record('crm.customers', $1, 'A-1')", &[VALUES]).await;
    session.run("update crm.customers set mood = '-0'").await;
    session.run("create table public.before as select * from crm.customers").await;
    let id = session.text("select id from crm.customers", &[]).await;
    (database, session, id)
}

/// Row and history are unchanged, byte for byte.
async fn assert_untouched(session: &Session, way: &str) {
    let same = "select c::text = b::text from crm.customers c, public.before b";
    assert_eq!(session.text(same, &[]).await, "t", "{way}");
    let versions = "select count(*) from crm.customers c, keyed.history(c.id)";
    assert_eq!(session.text(versions, &[]).await, "2", "{way}");
}

#[tokio::test]
async fn equal_value_in_another_form_changes_nothing() {
    let (_database, session, id) = ada().await;
    for update in [
        "visits = 1.0",
        "visits = 1.000, updated_at = now()",
        "mood = 0",
        "tags = '[0:1]={a,b}'",
        "external_key = ' A-1 '",
        "visits = 1.00, mood = '0', tags = '[5:6]={a,b}', external_key = 'A-1  ', name = 'Ada'",
    ] {
        session.run(&format!("update crm.customers set {update}")).await;
        assert_untouched(&session, update).await;
    }
    let attributes = json!({"visits": "1.0"}).to_string().replace("\"1.0\"", "1.0");
    let body = format!(r#"{{"attributes": {attributes}}}"#);
    let operation = format!(
        r#"[{{"op": "upsert", "template": "2", "external_key": "A-1", "attributes": {attributes}}}]"#
    );
    let group = format!(
        r#"[{}, {}]"#,
        &operation[1..operation.len() - 1],
        r#"{"op": "upsert", "template": "2", "external_key": "A-2", "attributes": {"visits": 5}}"#
    );
    for (way, statement, arguments) in [
        ("patch", "select keyed.patch_record($1, $2)", vec![id.as_str(), &body]),
        (
            "patch of key and value",
            "select keyed.patch_record($1, $2)",
            vec![&id, r#"{"external_key": " A-1", "attributes": {"visits": 1.0}}"#],
        ),
        ("upsert", "select keyed.upsert_by_key('crm.customers', 'A-1', $1)", vec![&attributes]),
        (
            "increment",
            "select keyed.upsert_by_key('crm.customers', 'A-1', $1)",
            vec![r#"{"visits": {"$inc": 0.00}}"#],
        ),
        ("batch", "select keyed.batch($1)", vec![&operation]),
        ("batch of several", "select keyed.batch($1, true)", vec![&group]),
    ] {
        session.rows(statement, &arguments).await;
        session.run("delete from crm.customers where external_key = 'A-2'").await;
        assert_untouched(&session, way).await;
    }
    let insert = "insert into crm.customers (external_key, visits) values ('A-1', 1.0) \
                  on conflict (external_key) where deleted_at is null and external_key is not null do update set visits = excluded.visits";
    session.run(insert).await;
    assert_untouched(&session, "on conflict").await;
}

#[tokio::test]
async fn equal_number_keeps_its_digits_without_a_trace() {
    let (_database, session, _) = ada().await;
    session.run("update crm.customers set name = 'Bea', visits = 1.00").await;
    assert_eq!(session.text("select visits from crm.customers", &[]).await, "1");
    let changes =
        "select h.changes from crm.customers c, keyed.history(c.id) h order by h.version desc limit 1";
    assert_eq!(session.json(changes, &[]).await, json!({"name": {"old": "Ada", "new": "Bea"}}));
    session.run("update crm.customers set visits = 1.01").await;
    assert_eq!(session.text("select visits from crm.customers", &[]).await, "1.01");
}

#[tokio::test]
async fn lists_of_the_same_elements_in_another_order_differ() {
    let (_database, session, _) = ada().await;
    session.run("update crm.customers set tags = '{b,a}'").await;
    assert_eq!(session.text("select tags from crm.customers", &[]).await, "{b,a}");
    session.run("update crm.customers set tags = '{b,a,a}'").await;
    let versions = "select count(*) from crm.customers c, keyed.history(c.id)";
    assert_eq!(session.text(versions, &[]).await, "4");
}
