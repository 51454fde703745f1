//! Mirror imports with concurrent writers.

use harness::{Database, Session};
use serde_json::{Value, json};

const IMPORT: &str = "select keyed_http.import_rows($1, $2, $3)";

/// Imports a file of keys. After the last row, `ends_after` is their number.
async fn call(session: &Session, ends_after: Option<u64>, rows: &str) -> Value {
    let template =
        session.text("select id::text from keyed_state.template where slug = 'customers'", &[]).await;
    session.json(IMPORT, &[&template, &options(ends_after).to_string(), rows]).await
}

fn options(ends_after: Option<u64>) -> Value {
    let filter = json!({"field": "visits", "operator": "lt", "value": 5});
    json!({"format": "csv", "header": ["external_key"], "mode": "mirror", "is_whole": true, "max_deleted_share": 1,
        "filter": filter, "ends_after": ends_after})
}

async fn upsert(session: &Session, key: &str, attributes: Value) {
    let sql = "select keyed.upsert_by_key('crm.customers', $1, $2)";
    session.rows(sql, &[key, &attributes.to_string()]).await;
}

/// A database with these customers, each with one visit.
async fn with_customers(keys: &[&str]) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for key in keys {
        upsert(&session, key, json!({"visits": 1, "name": "old"})).await;
    }
    (database, session)
}

async fn all(session: &Session) -> String {
    let sql = "select string_agg(external_key, ' ' order by external_key) from crm.customers where deleted_at is null";
    session.text(sql, &[]).await
}

#[tokio::test]
async fn mirror_keeps_records_that_are_created_after_it_began() {
    let (database, other) = with_customers(&["a", "b"]).await;
    // One transaction begins before the import, and commits after it has begun.
    let early = database.session().await;
    early.run("begin").await;
    upsert(&early, "early", json!({"visits": 1})).await;
    let import = database.session().await;
    import.run("begin").await;
    call(&import, None, "").await;
    early.run("commit").await;
    upsert(&other, "late", json!({"visits": 1})).await;
    call(&import, None, "a\n").await;
    upsert(&other, "later", json!({"visits": 1})).await;
    let report = call(&import, Some(1), "").await;
    import.run("commit").await;
    assert_eq!((&report["keys"], &report["matching"]), (&json!(["b"]), &json!(2)), "{report}");
    assert_eq!(all(&other).await, "a early late later");
}

#[tokio::test]
async fn mirror_deletes_records_that_are_changed_after_it_began() {
    let (database, other) = with_customers(&["a", "changed", "deleted", "moved", "renamed"]).await;
    let import = database.session().await;
    import.run("begin").await;
    call(&import, None, "a\n").await;
    upsert(&other, "changed", json!({"name": "new"})).await;
    upsert(&other, "moved", json!({"visits": 9})).await;
    other.run("select keyed.delete_record(id) from crm.customers where external_key = 'deleted'").await;
    // The file contains the new key of this record.
    other.run("update crm.customers set external_key = 'found' where external_key = 'renamed'").await;
    call(&import, None, "found\n").await;
    let report = call(&import, Some(2), "").await;
    import.run("commit").await;
    assert_eq!((&report["keys"], &report["deleted"]), (&json!(["changed", "deleted", "moved"]), &json!(1)));
    assert_eq!(all(&other).await, "a found moved");
}

#[tokio::test]
async fn mirror_waits_for_writers_of_the_records_that_it_deletes() {
    for (visits, left) in [(2, "a"), (9, "a b")] {
        let (database, watcher) = with_customers(&["a", "b", "c"]).await;
        let (import, writer) = (database.session().await, database.session().await);
        writer.run("begin").await;
        upsert(&writer, "b", json!({"visits": visits})).await;
        import.run("begin").await;
        call(&import, None, "a\n").await;
        let end = tokio::spawn(async move {
            let report = call(&import, Some(1), "").await;
            import.run("commit").await;
            report
        });
        watcher.until_blocked(1).await;
        writer.run("commit").await;
        let report = end.await.expect("the task completes");
        assert_eq!(all(&watcher).await, left, "{report}");
    }
}

#[tokio::test]
async fn mirror_keeps_records_of_the_import_that_it_waited_for() {
    let (database, watcher) = with_customers(&["a", "b"]).await;
    let (first, second) = (database.session().await, database.session().await);
    let template =
        watcher.text("select id::text from keyed_state.template where slug = 'customers'", &[]).await;
    let other = json!({"format": "csv", "header": ["external_key", "visits"], "is_whole": true}).to_string();
    first.run("begin").await;
    first.json(IMPORT, &[&template, &other, "new,1\n"]).await;
    let waits = tokio::spawn(async move {
        second.run("begin").await;
        call(&second, None, "a\n").await;
        let report = call(&second, Some(1), "").await;
        second.run("commit").await;
        report
    });
    watcher.until_blocked(1).await;
    first.run("commit").await;
    assert_eq!(waits.await.expect("the task completes")["keys"], json!(["b"]));
    assert_eq!(all(&watcher).await, "a new");
}
