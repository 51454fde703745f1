//! Quotas: definition and report.

use super::{UPSERT, assert_reached, used, with_quota};
use harness::Database;
use serde_json::json;

#[tokio::test]
async fn new_quota_counts_existing_records() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers select from generate_series(1, 5); insert into crm.companies (name) values ('ACME')").await;
    session.run("update crm.customers set deleted_at = now() where id = (select max(id::text)::uuid from crm.customers)").await;
    assert_eq!(used(&session, "live_records").await, "5", "without a quota they are counted one by one");
    let set = "select keyed.set_quota('crm', 'live_records', $1::bigint)";
    session.rows(set, &["6"]).await;
    session.run("insert into crm.customers default values").await;
    assert_reached(&session.error(UPSERT, &["B"]).await, "live_records", 6, 6);

    // The quota is below the current count, so a record can be created only after enough deletions.
    session.rows(set, &["2"]).await;
    assert_reached(&session.error(UPSERT, &["B"]).await, "live_records", 2, 6);
    session.run("update crm.customers set deleted_at = now() where deleted_at is null").await;
    assert_eq!(used(&session, "live_records").await, "1");
    session.rows(UPSERT, &["B"]).await;
    assert_reached(&session.error(UPSERT, &["C"]).await, "live_records", 2, 2);
    session.rows(set, &["3"]).await;
    session.rows(UPSERT, &["C"]).await;

    session.run("select keyed.set_quota('crm', 'live_records', null)").await;
    for key in ["D", "E"] {
        session.rows(UPSERT, &[key]).await;
    }
    session.rows(set, &["5"]).await;
    assert_eq!(used(&session, "live_records").await, "5");
}

#[tokio::test]
async fn new_quota_applies_to_all_sessions() {
    let database = Database::with_crm().await;
    let (session, other) = (database.session().await, database.session().await);
    session.rows(UPSERT, &["A"]).await;
    session.run("begin isolation level repeatable read; select 1").await;
    other.run("select keyed.set_quota('crm', 'live_records', 1)").await;
    // This includes a session whose snapshot is older than the quota.
    assert_eq!(session.error(UPSERT, &["B"]).await.state, "53400");
    session.run("rollback").await;
    assert_reached(&session.error(UPSERT, &["B"]).await, "live_records", 1, 1);
    other.run("select keyed.set_quota('crm', 'live_records', 2)").await;
    session.rows(UPSERT, &["B"]).await;
}

#[tokio::test]
async fn quotas_of_projects_are_independent() {
    let (_database, session) = with_quota("live_records", "0").await;
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'orders'); insert into shop.orders default values").await;
    assert_reached(&session.error(UPSERT, &["A"]).await, "live_records", 0, 0);
    let all = "select string_agg(concat_ws(' ', name, coalesce(maximum::text, '-'), coalesce(used::text, '-')), ', ') from keyed.quota_usage($1)";
    assert_eq!(
        session.text(all, &["crm"]).await,
        "live_records 0 0, templates - 2, attributes_per_template - 9, writes_per_day - -"
    );
    assert_eq!(
        session.text(all, &["shop"]).await,
        "live_records - 1, templates - 1, attributes_per_template - 0, writes_per_day - -"
    );
}

#[tokio::test]
async fn invalid_quota_is_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for (arguments, code, pointer) in [
        ("'crm', 'records', 1", ("22023", "invalid_value"), "/name"),
        ("'crm', 'live_records', -1", ("22023", "invalid_value"), "/maximum"),
        ("'crm', null, 1", ("22023", "invalid_value"), "/name"),
        ("'nowhere', 'templates', 1", ("P0002", "not_found"), ""),
    ] {
        let error = session.error(&format!("select keyed.set_quota({arguments})"), &[]).await;
        assert_eq!(error.codes(), code, "{arguments}");
        assert_eq!(error.pointers().first().copied().unwrap_or_default(), pointer);
    }
    session.run("begin isolation level repeatable read").await;
    let fixed = session.error("select keyed.set_quota('crm', 'live_records', 1)", &[]).await;
    assert!(fixed.hint.contains("READ COMMITTED"), "{fixed:?}");
    session.run("rollback").await;

    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm", "read, create, update, delete, define").await;
    let clerk = database.session_as(&clerk).await;
    for statement in ["select keyed.set_quota('crm', 'templates', 1)", "select from keyed.quota_usage('crm')"]
    {
        assert_eq!(clerk.error(statement, &[]).await.codes(), ("42501", "forbidden"));
    }
}

#[tokio::test]
async fn total_is_hidden_from_a_caller_with_a_scope() {
    let (database, session) = with_quota("live_records", "2").await;
    session.run("insert into crm.customers (name) values ('a'), ('b')").await;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "create, update").await;
    let unprivileged = database.session_as(&clerk).await;
    for statement in
        ["insert into crm.customers (name) values ('c')", "select keyed.upsert_by_key('crm.customers', 'C')"]
    {
        let error = unprivileged.error(statement, &[]).await;
        assert_eq!(error.codes(), ("53400", "quota_exceeded"), "{error}");
        assert_eq!(error.detail["quota"], json!({"name": "live_records", "maximum": 2}));
        assert!(!error.message.contains(" has "), "{error}");
    }
}
