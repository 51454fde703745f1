//! Versions of records, and writes with a version as precondition.

use harness::customers::HISTORY;
use harness::{Database, Session, array, similar};
use std::collections::HashSet;

const ID: &str = "(select id from crm.customers)";

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.companies', 'C', '{\"name\": \"ACME\"}')").await;
    let attributes = r#"{"name": "Ada", "visits": 1.10, "mood": 1, "company": {"external_key": "C"}}"#;
    session.rows("select keyed.create_record('crm.customers', $1, 'K')", &[attributes]).await;
    (database, session)
}

async fn version(session: &Session) -> String {
    session.text(&format!("select keyed.record_version({ID})"), &[]).await
}

#[tokio::test]
async fn change_gives_a_new_version() {
    let (_database, session) = crm().await;
    let mut versions = HashSet::from([version(&session).await]);
    for change in [
        "select keyed.patch_record($id, '{\"attributes\": {\"name\": \"Bea\"}}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"visits\": {\"$inc\": 1}}}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"mood\": 2}}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"company\": null}}')",
        "select keyed.replace_attributes($id, '{\"name\": \"Ada\"}')",
        "update crm.customers set name = 'Cleo'",
        // Bypasses the triggers, so the row has no history entry and keeps its old time.
        "begin; set local session_replication_role = replica; update crm.customers set name = 'Dora'; commit",
        // Two changes within one transaction have the same time.
        "select keyed.patch_record($id, '{\"attributes\": {\"tags\": [\"a\"]}}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"tags\": [\"b\"]}}')",
        "select keyed.delete_record($id)",
        "select keyed.restore_record($id)",
        "select keyed.add_attribute('crm.customers', '{\"slug\": \"note\", \"type\": \"string\"}')",
        "select keyed.alter_attribute('crm.customers', 'note', '{\"slug\": \"remark\"}')",
    ] {
        session.run(&change.replace("$id", ID)).await;
        assert!(versions.insert(version(&session).await), "{change}");
    }
    session.run("begin").await;
    for name in ["1", "2", "3"] {
        session.rows("update crm.customers set name = $1", &[name]).await;
        assert!(versions.insert(version(&session).await), "within one transaction: {name}");
    }
    session.run("rollback").await;
    assert!(versions.contains(&version(&session).await), "a rollback leaves nothing");
}

#[tokio::test]
async fn unchanged_record_keeps_its_version() {
    let (_database, session) = crm().await;
    let before = version(&session).await;
    let vector = array(&similar(0.5));
    for statement in [
        "select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"visits\": 1.100}}')",
        "select keyed.patch_record($id, '{}')",
        "select keyed.patch_record($id, '{\"attributes\": {\"mood\": {\"value\": 9, \"at\": \"2001-01-01T00:00:00Z\"}}}')",
        "update crm.customers set name = name",
        "update crm.companies set name = 'Globex'",
        "select keyed.set_embedding($id, $vector)",
        "select keyed.alter_attribute('crm.customers', 'name', '{\"label\": \"Name\", \"indexed\": true}')",
        "set time zone 'Asia/Tokyo'; set datestyle = 'German'; set extra_float_digits = 0",
        // Every row is rewritten, by another transaction and at another TID.
        "vacuum full crm.customers",
        "begin; set local session_replication_role = replica; update crm.customers set name = name; commit",
    ] {
        let statement = statement.replace("$id", ID).replace("$vector", &format!("'{vector}'"));
        session.run(&statement).await;
        assert_eq!(version(&session).await, before, "{statement}");
    }
}

#[tokio::test]
async fn conditional_write_applies_to_its_version_only() {
    let (_database, session) = crm().await;
    let vector = format!("'{}'", array(&similar(0.5)));
    for write in [
        "keyed.patch_record($id, '{\"attributes\": {\"visits\": {\"$inc\": 1}}}', $1)",
        "keyed.patch_record($id, '{\"external_key\": \"L\"}', $1)",
        "keyed.patch_record($id, '{\"embedding\": null}', $1)",
        "keyed.patch_record($id, '{}', $1)",
        "keyed.replace_attributes($id, '{\"name\": \"Bea\"}', $1)",
        "keyed.delete_record($id, $1)",
        "keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": {\"$inc\": 1}}', $1)",
        "keyed.upsert_by_key('crm.customers', 'K', '{\"mood\": 5}', $1)",
        "keyed.upsert_by_key('crm.customers', 'K', '{}', if_match => $1)",
        "keyed.set_embedding($id, $vector, $1)",
    ] {
        let statement = format!("select {}", write.replace("$id", ID).replace("$vector", &vector));
        let before = session.text("select c from crm.customers c", &[]).await;
        let current = version(&session).await;
        for other in ["0123456789abcdef0123456789abcdef", "\"a\", \"b\"", &format!("W/\"{current}\"")] {
            let error = session.error(&statement, &[other]).await;
            assert_eq!(error.codes(), ("55000", "precondition_failed"), "{statement} {other}");
        }
        assert_eq!(session.text("select c from crm.customers c", &[]).await, before, "{statement}");
        for given in [&current, "*", &format!("\"x\", \"{current}\""), &format!("\"{current}-gzip\"")] {
            session.run("begin").await;
            session.rows(&statement, &[given]).await;
            session.run("rollback").await;
        }
        for malformed in ["", "\"a", "a b", "*, \"a\""] {
            let error = session.error(&statement, &[malformed]).await;
            assert_eq!(error.codes(), ("22032", "malformed_request"), "{malformed}");
        }
    }
    assert_eq!(session.text(&format!("select count(*) from {HISTORY}"), &[]).await, "1");
}

#[tokio::test]
async fn conditional_restore_applies_to_its_version_only() {
    let (_database, session) = crm().await;
    let live = version(&session).await;
    session.run(&format!("select keyed.delete_record({ID}, '{live}')")).await;
    let restore = format!("select keyed.restore_record({ID}, '{{}}', $1)");
    assert_eq!(session.error(&restore, &[&live]).await.codes(), ("55000", "precondition_failed"));
    let deleted = version(&session).await;
    session.rows(&restore, &[&deleted]).await;
    assert_eq!(
        session.error(&restore, &[&deleted]).await.codes(),
        ("23505", "conflict"),
        "a live record cannot be restored"
    );
}

#[tokio::test]
async fn upsert_can_be_limited_to_create_or_update() {
    let (_database, session) = crm().await;
    let upsert = "select created from keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"x\"}', nullif($2, ''), nullif($3, ''))";
    for (key, if_match, if_none_match, expected) in [
        ("K", "", "*", Err("55000")),
        ("new", "*", "", Err("55000")),
        ("new", "0123", "", Err("55000")),
        ("new", "*", "*", Err("55000")),
        ("new", "", "*", Ok("t")),
        ("new", "", "*", Err("55000")),
        ("new", "*", "", Ok("f")),
        ("new", "", "0123", Ok("f")),
        ("other", "", "\"0123\"", Ok("t")),
    ] {
        let outcome = session.attempt(upsert, &[key, if_match, if_none_match]).await;
        let outcome = outcome.map(|rows| rows[0][0].clone().unwrap_or_default());
        let outcome = outcome.as_deref().map_err(|error| error.state.as_str());
        assert_eq!(outcome, expected, "{key} {if_match} {if_none_match}");
    }
    let lacking = "select keyed.upsert_by_key('crm.companies', 'D', '{}', null, '*')";
    assert_eq!(session.error(lacking, &[]).await.codes(), ("22023", "required_attribute"));
}

#[tokio::test]
async fn version_of_an_older_snapshot_is_not_current() {
    let (database, session) = crm().await;
    let (older, current) = (database.session().await, version(&session).await);
    older.run("begin isolation level repeatable read; select from crm.customers").await;
    session.run("update crm.customers set name = 'changed'").await;
    assert_eq!(version(&older).await, current, "the snapshot shows the record as it was");
    let patch = format!("select keyed.patch_record({ID}, '{{\"attributes\": {{\"name\": \"x\"}}}}', $1)");
    assert_eq!(older.error(&patch, &[&current]).await.state, "40001");
    older.run("rollback").await;
    assert_eq!(older.error(&patch, &[&current]).await.state, "55000");
}
