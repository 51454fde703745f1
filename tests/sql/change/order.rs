//! The order of the feed, and changes that it does not show yet.

use super::{all, next, now, operations_and_keys, page};
use harness::{Cluster, Database, Session};
use serde_json::{Value, json};
use std::sync::Arc;

const UPSERT: &str = "select keyed.upsert_by_key('crm.customers', $1, $2)";

async fn upsert(session: &Session, key: &str, attributes: &str) {
    session.rows(UPSERT, &[key, attributes]).await;
}

/// Assigns a transaction id to the session's transaction.
async fn begin(session: &Session) {
    session.run("begin; select pg_current_xact_id()").await;
}

#[tokio::test]
async fn changes_after_an_open_transaction_wait_for_it_and_are_not_skipped() {
    let database = Database::with_crm().await;
    let (reader, slow, fast) = (database.session().await, database.session().await, database.session().await);
    let start = now(&reader).await;
    begin(&slow).await;
    upsert(&fast, "fast", "{}").await;
    let waiting = page(&reader, &start, 10).await;
    assert_eq!(operations_and_keys(waiting["changes"].as_array().expect("changes")), [""; 0]);
    assert_eq!(waiting["has_more"], false);
    upsert(&slow, "slow", "{}").await;
    slow.run("commit").await;
    upsert(&fast, "later", "{}").await;
    let (changes, _) = all(&reader, &next(&waiting), 1).await;
    assert_eq!(operations_and_keys(&changes), ["create slow", "create fast", "create later"]);
}

#[tokio::test]
async fn changes_of_a_record_are_in_order_regardless_of_transaction_start() {
    let database = Database::with_crm().await;
    let (reader, early, late) =
        (database.session().await, database.session().await, database.session().await);
    upsert(&early, "K", r#"{"visits": 0}"#).await;
    let start = now(&reader).await;
    begin(&early).await;
    upsert(&late, "K", r#"{"visits": 1}"#).await;
    upsert(&late, "other", "{}").await;
    upsert(&early, "K", r#"{"name": "last"}"#).await;
    early.run("commit").await;
    let (changes, _) = all(&reader, &start, 1).await;
    let of_record = changes.iter().filter(|it| it["external_key"] == "K");
    let changed: Vec<String> = of_record.map(|it| it["changed"].to_string()).collect();
    assert_eq!(changed, [r#"["visits"]"#, r#"["name"]"#]);
    assert_eq!(changes.len(), 3);
}

#[tokio::test]
async fn failed_transaction_leaves_no_entry_and_no_gap() {
    let database = Database::with_crm().await;
    let (reader, writer) = (database.session().await, database.session().await);
    let start = now(&reader).await;
    begin(&writer).await;
    upsert(&writer, "never", "{}").await;
    writer.run("rollback").await;
    writer.run("begin; savepoint s").await;
    upsert(&writer, "undone", "{}").await;
    writer.run("rollback to s").await;
    upsert(&writer, "kept", "{}").await;
    writer.run("commit").await;
    assert_eq!(operations_and_keys(&all(&reader, &start, 1).await.0), ["create kept"]);
}

#[tokio::test]
async fn transaction_does_not_read_its_own_changes() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let start = now(&session).await;
    begin(&session).await;
    upsert(&session, "own", "{}").await;
    assert!(all(&session, &start, 10).await.0.is_empty());
    session.run("commit").await;
    assert_eq!(operations_and_keys(&all(&session, &start, 10).await.0), ["create own"]);
}

#[tokio::test]
async fn fixed_snapshot_limits_the_feed() {
    // In a fixed snapshot, a transaction of another database that has ended since delays the feed.
    let cluster = Arc::new(Cluster::start_with(&[]));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let (reader, writer) = (database.session().await, database.session().await);
    upsert(&writer, "before", "{}").await;
    reader.run("begin isolation level repeatable read; select count(*) from crm.customers").await;
    upsert(&writer, "after", "{}").await;
    let (changes, cursor) = all(&reader, "start", 10).await;
    assert_eq!(operations_and_keys(&changes), ["create before"]);
    reader.run("commit").await;
    assert_eq!(operations_and_keys(&all(&reader, &cursor, 10).await.0), ["create after"]);
}

#[tokio::test]
async fn transaction_of_another_database_delays_nothing() {
    let database = Database::with_crm().await;
    let elsewhere = Database::with_crm().await;
    let (reader, writer, other) =
        (database.session().await, database.session().await, elsewhere.session().await);
    let start = now(&reader).await;
    begin(&other).await;
    upsert(&writer, "here", "{}").await;
    assert_eq!(operations_and_keys(&all(&reader, &start, 10).await.0), ["create here"]);
    other.run("commit").await;
}

/// A page of the template's changes that ends at a cursor.
async fn page_until(session: &Session, after: &str, until: &str) -> Value {
    let sql = "select keyed_http.changes(t.id::text, $1, null, false, nullif($2, ''))
               from keyed_state.template t where t.slug = 'customers'";
    serde_json::from_str(&session.text(sql, &[after, until]).await).expect("a page")
}

#[tokio::test]
async fn page_until_a_cursor_ends_there_whatever_other_databases_do() {
    let cluster = Arc::new(Cluster::start_with(&[]));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let elsewhere = Database::new_in(&cluster).await.add_crm().await;
    let (reader, writer, other) =
        (database.session().await, database.session().await, elsewhere.session().await);
    begin(&other).await;
    upsert(&writer, "A", "{}").await;
    reader.run("begin isolation level repeatable read").await;
    let first = page_until(&reader, "start", "").await;
    let until = next(&first);
    // The snapshot no longer shows that the transaction was one of another database.
    other.run("commit").await;
    let keys = |page: &Value| operations_and_keys(page["changes"].as_array().expect("changes"));
    assert_eq!(keys(&page_until(&reader, "start", "").await), [""; 0]);
    assert_eq!(keys(&page_until(&reader, "start", &until).await), ["create A"]);
    reader.run("commit").await;
    upsert(&writer, "B", "{}").await;
    let page = page_until(&reader, "start", &until).await;
    assert_eq!((keys(&page), &page["has_more"]), (vec!["create A".to_owned()], &json!(false)));
    // A reader that is ahead of the cursor is told that it has not ended there.
    let ahead = next(&page_until(&reader, "start", "").await);
    let page = page_until(&reader, &ahead, &until).await;
    assert_eq!((keys(&page), &page["has_more"]), (vec![], &json!(true)));
}

#[tokio::test]
async fn prepared_transaction_delays_later_changes() {
    let cluster = Arc::new(Cluster::start_with(&["max_prepared_transactions=10"]));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let elsewhere = Database::new_in(&cluster).await.add_crm().await;
    let (reader, writer, other) =
        (database.session().await, database.session().await, elsewhere.session().await);
    let start = now(&reader).await;
    begin(&other).await;
    other.run("prepare transaction 'elsewhere'").await;
    upsert(&writer, "first", "{}").await;
    begin(&writer).await;
    upsert(&writer, "prepared", "{}").await;
    writer.run("prepare transaction 'here'").await;
    upsert(&writer, "later", "{}").await;
    let (changes, cursor) = all(&reader, &start, 10).await;
    assert_eq!(operations_and_keys(&changes), ["create first"]);
    reader.run("commit prepared 'here'").await;
    assert_eq!(operations_and_keys(&all(&reader, &cursor, 10).await.0), ["create prepared", "create later"]);
    other.run("rollback prepared 'elsewhere'").await;
}

#[tokio::test]
async fn ten_thousand_changes_of_one_transaction_are_read_in_pages() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let start = now(&session).await;
    session
        .run(
            "begin; insert into crm.customers (external_key, visits) select 'c' || n, n from generate_series(1, 4000) n;
             insert into crm.companies (external_key, name) select 'd' || n, n from generate_series(1, 2000) n;
             update crm.customers set visits = -visits; commit",
        )
        .await;
    let (changes, _) = all(&session, &start, 333).await;
    assert_eq!(changes.len(), 10_000);
    let mut reported: Vec<String> = operations_and_keys(&changes);
    let mut versions = std::collections::HashMap::new();
    for change in &changes {
        let before = versions.insert(change["id"].to_string(), change["operation"].to_string());
        assert_eq!(change["operation"] == "update", before.is_some(), "{change}");
    }
    reported.sort();
    reported.dedup();
    assert_eq!(reported.len(), 10_000);
}

#[tokio::test]
async fn entries_written_by_a_statement_are_in_the_same_order() {
    let database = Database::with_crm().await;
    let (reader, early, late) =
        (database.session().await, database.session().await, database.session().await);
    early.run("set keyed.direct_access = off").await;
    late.run("set keyed.direct_access = off").await;
    upsert(&early, "K", r#"{"visits": 0}"#).await;
    let start = now(&reader).await;
    begin(&early).await;
    upsert(&late, "K", r#"{"visits": 1}"#).await;
    upsert(&early, "K", r#"{"name": "last"}"#).await;
    early.run("commit").await;
    let (changes, _) = all(&reader, &start, 1).await;
    let changed: Vec<String> = changes.iter().map(|it| it["changed"].to_string()).collect();
    assert_eq!(changed, [r#"["visits"]"#, r#"["name"]"#]);
}
