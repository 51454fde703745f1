//! Quotas: how many records a project can hold, and how many writes it can make.

use super::{UPSERT, assert_reached, used, with_quota};
use serde_json::{Value, json};

#[tokio::test]
async fn every_write_path_enforces_the_record_quota() {
    let (_database, session) = with_quota("live_records", "3").await;
    session.rows(UPSERT, &["A"]).await;
    session.run("select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}')").await;
    session.run("insert into crm.customers (external_key) values ('B')").await;
    for statement in [
        "select keyed.upsert_by_key('crm.customers', 'C')",
        "select keyed.create_record('crm.companies', '{\"name\": \"Globex\"}')",
        "insert into crm.customers (external_key) values ('C')",
        "insert into crm.customers select from generate_series(1, 5)",
        "select keyed.batch('[{\"op\": \"create\", \"template\": \"crm.customers\"}]', true)",
    ] {
        assert_reached(&session.error(statement, &[]).await, "live_records", 3, 3);
    }
    assert_eq!(used(&session, "live_records").await, "3");
    // Existing records can still be changed.
    for statement in [
        "select keyed.upsert_by_key('crm.customers', 'A', '{\"visits\": 7}')",
        "update crm.customers set name = 'Ada'",
        "insert into crm.customers (external_key) values ('A') on conflict (external_key) where deleted_at is null and external_key is not null do update set visits = 8",
        "select keyed.batch('[{\"op\": \"upsert\", \"template\": \"crm.customers\", \"external_key\": \"A\", \"attributes\": {\"visits\": 9}}]', true)",
    ] {
        session.run(statement).await;
    }
    assert_eq!(used(&session, "live_records").await, "3");
}

#[tokio::test]
async fn deletion_frees_quota_and_restore_uses_it() {
    let (_database, session) = with_quota("live_records", "2").await;
    session.rows(UPSERT, &["A"]).await;
    session.rows(UPSERT, &["B"]).await;
    let delete = "update crm.customers set deleted_at = now() where external_key = $1 and deleted_at is null";
    session.rows(delete, &["A"]).await;
    assert_eq!(used(&session, "live_records").await, "1");
    session.rows(UPSERT, &["C"]).await;
    for restore in [
        "select keyed.restore_record(id) from crm.customers where _released_key = 'A'",
        "update crm.customers set deleted_at = null where _released_key = 'A'",
    ] {
        assert_reached(&session.error(restore, &[]).await, "live_records", 2, 2);
    }
    session.run("delete from crm.customers where external_key = 'C'").await;
    session.run("select keyed.restore_record(id) from crm.customers where _released_key = 'A'").await;
    // A purged record was already not counted.
    session.rows(delete, &["A"]).await;
    session.run("delete from crm.customers where _released_key = 'A'").await;
    assert_eq!(used(&session, "live_records").await, "1");
    session.run("truncate crm.customers").await;
    assert_eq!(used(&session, "live_records").await, "0");
    session.rows(UPSERT, &["D"]).await;
    session.run("select keyed.drop_template('crm.customers', true)").await;
    assert_eq!(used(&session, "live_records").await, "0");
}

#[tokio::test]
async fn rollback_returns_quota() {
    let (_database, session) = with_quota("live_records", "2").await;
    for _ in 0..3 {
        session.run("begin; insert into crm.customers select from generate_series(1, 2); rollback").await;
    }
    session
        .run("begin; savepoint s; insert into crm.customers select from generate_series(1, 2); rollback to s; insert into crm.customers default values; commit")
        .await;
    assert_eq!(used(&session, "live_records").await, "1");
    // A rejected statement does not count.
    let error = session.error("insert into crm.customers select from generate_series(1, 2)", &[]).await;
    assert_reached(&error, "live_records", 2, 1);
    assert!(error.message.contains("has 1; 2 more were requested"), "{}", error.message);
    session.run("insert into crm.customers default values").await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "2");
}

#[tokio::test]
async fn savepoint_rollback_returns_quota_of_many_writes() {
    let (database, session) = with_quota("live_records", "500").await;
    let upserts = |from: usize, to: usize| {
        format!(
            "do $$ begin for i in {from}..{to} loop \
             perform keyed.upsert_by_key('crm.customers', 'K' || i); end loop; end $$"
        )
    };
    session.run(&format!("begin; {}; savepoint s", upserts(1, 300))).await;
    session.run(&format!("{}; rollback to s; {}; commit", upserts(301, 450), upserts(301, 310))).await;
    assert_eq!(used(&session, "live_records").await, "310");
    session.run(&format!("begin; {}; rollback", upserts(311, 500))).await;
    let other = database.session().await;
    other.run(&upserts(311, 400)).await;
    session.run(&upserts(401, 500)).await;
    for session in [&session, &other] {
        assert_reached(&session.error(UPSERT, &["K501"]).await, "live_records", 500, 500);
    }
    let allowed =
        "select sum(allowed), min(allowed - used) from keyed_state.quota_slot where name = 'live_records'";
    assert_eq!(session.rows(allowed, &[]).await, [[Some("500".to_owned()), Some("0".to_owned())]]);
}

fn creates(count: usize) -> String {
    let operation =
        |n: usize| json!({"op": "create", "template": "crm.customers", "external_key": format!("K-{n:03}")});
    Value::Array((0..count).map(operation).collect()).to_string()
}

#[tokio::test]
async fn atomic_batch_beyond_a_quota_writes_nothing() {
    let (_database, session) = with_quota("live_records", "10").await;
    let error = session.error("select keyed.batch($1, true)", &[&creates(11)]).await;
    assert_eq!(error.detail["failed_index"], 10);
    assert_reached(&error, "live_records", 10, 10);
    assert_eq!(used(&session, "live_records").await, "0");
    let report = session.json("select keyed.batch($1, true)", &[&creates(10)]).await;
    assert_eq!((&report["errors"], used(&session, "live_records").await.as_str()), (&json!(false), "10"));
}

#[tokio::test]
async fn quota_rejects_single_operations_of_a_batch() {
    let (_database, session) = with_quota("live_records", "300").await;
    let report = session.json("select keyed.batch($1, false)", &[&creates(400)]).await;
    let results = report["results"].as_array().expect("results");
    let rejected: Vec<&Value> = results.iter().filter(|result| result["status"] == 403).collect();
    assert_eq!((results.len(), rejected.len()), (400, 100));
    assert_eq!(rejected[0]["error"]["code"], "quota_exceeded");
    assert_eq!(rejected[0]["error"]["quota"], json!({"name": "live_records", "maximum": 300, "used": 300}));
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "300");
    assert_eq!(used(&session, "live_records").await, "300");
}

#[tokio::test]
async fn quotas_limit_templates_and_attributes() {
    let (_database, session) = with_quota("templates", "3").await;
    session.run("select keyed.set_quota('crm', 'attributes_per_template', 9)").await;
    session.run("select keyed.create_template('crm', 'orders')").await;
    let another = session.error("select keyed.create_template('crm', 'invoices')", &[]).await;
    assert_reached(&another, "templates", 3, 3);
    session
        .run("select keyed.drop_template('crm.orders'); select keyed.create_template('crm', 'invoices')")
        .await;

    let add = "select keyed.add_attribute('crm.customers', '{\"slug\": \"fax\", \"type\": \"string\"}')";
    assert_reached(&session.error(add, &[]).await, "attributes_per_template", 9, 9);
    session.run("select keyed.alter_attribute('crm.customers', 'name', '{\"label\": \"Full name\"}')").await;
    session.run("select keyed.drop_attribute('crm.customers', 'name')").await;
    session.run(add).await;
    let many: Vec<Value> = (0..10).map(|n| json!({"slug": format!("a{n}"), "type": "string"})).collect();
    session.run("select keyed.drop_template('crm.invoices')").await;
    let error = session
        .error("select keyed.create_template('crm', 'wide', $1)", &[&Value::from(many).to_string()])
        .await;
    assert_reached(&error, "attributes_per_template", 9, 0);
    // A quota below the current count deletes nothing.
    session.run("select keyed.set_quota('crm', 'attributes_per_template', 2)").await;
    session.run("select keyed.drop_attribute('crm.customers', 'fax')").await;
    assert_eq!(used(&session, "attributes_per_template").await, "8");
}

#[tokio::test]
async fn truncation_returns_quota_with_any_snapshot() {
    let (database, session) = with_quota("live_records", "20").await;
    session.run("begin isolation level repeatable read; select 1").await;
    let other = database.session().await;
    other.run("insert into crm.companies (name) select 'Company ' || n from generate_series(1, 7) n").await;
    session.run("truncate crm.companies cascade; commit").await;
    assert_eq!(used(&session, "live_records").await, "0");
}

#[tokio::test]
async fn count_skips_versions_of_old_snapshots() {
    let (_database, session) = with_quota("writes_per_day", "1000000").await;
    let write = async |count: usize| {
        let upsert = "select keyed.upsert_by_key('crm.customers', 'A', '{\"visits\": {\"$inc\": 1}}')";
        session.run(&format!("{upsert} from generate_series(1, {count})")).await;
    };
    let pages = async || -> usize {
        let fetched = "select sum(pg_stat_get_xact_blocks_fetched(c)) from unnest(array[ \
                       'keyed_state.quota_slot'::regclass, 'keyed_state.quota_slot_pkey'::regclass]) c";
        session.text(fetched, &[]).await.parse().expect("a number")
    };
    // Rows that a transaction wrote stay counted until it ends.
    session.run("begin").await;
    write(3000).await;
    let before = pages().await;
    write(200).await;
    let each = (pages().await - before) / 200;
    session.run("commit").await;
    assert!(each < 12, "a write reads {each} pages of counters");
    assert_eq!(used(&session, "writes_per_day").await, "3200");
}
