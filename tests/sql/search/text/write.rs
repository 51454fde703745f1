//! A write replaces a document in its table, whatever changes an administrator has made to the table.

use super::sync::{FOUND, crm};
use harness::Session;
use harness::customers::DOCUMENTS;

/// An upsert that changes the text of a record with a document, and the stored and found text afterwards.
async fn assert_a_text_is_replaced(session: &Session, name: &str, more: &str) {
    let attributes = format!(r#"{{"name": "{name}{more}"}}"#);
    session.rows("select keyed.upsert_by_key('crm.customers', '1', $1)", &[&attributes]).await;
    assert_eq!(session.text(FOUND, &[name]).await, "1", "{name}");
    // By the primary key, and by a sequential scan.
    for scans in ["enable_seqscan = off", "enable_indexscan = off; set enable_bitmapscan = off"] {
        let stored = format!(
            "select count(*) from {DOCUMENTS} where record_id = (select id from crm.customers) and document like $1"
        );
        session.run(&format!("set {scans}")).await;
        assert_eq!(session.text(&stored, &[&format!("%{name}%")]).await, "1", "{name}: {scans}");
        session.run("reset all").await;
    }
    assert_eq!(session.text(&format!("select count(*) from {DOCUMENTS}"), &[]).await, "1");
}

#[tokio::test]
async fn documents_are_written_after_changes_of_their_table() {
    let (database, session) = crm().await;
    let index = session.text(&format!("select indexrelid::regclass from pg_index where indrelid = '{DOCUMENTS}'::regclass and not indisprimary"), &[]).await;
    let definition = session.text(&format!("select pg_get_indexdef('{index}'::regclass)"), &[]).await;
    session.run("select keyed.upsert_by_key('crm.customers', '1', '{}')").await;
    let changes = [
        "select 1".to_owned(),
        // Then no index contains the text, and the update is heap-only (HOT).
        format!("drop index {index}"),
        format!("create index summary on {DOCUMENTS} using brin (record_id, document)"),
        format!("drop index keyed_state.summary; {definition}"),
        format!("alter table {DOCUMENTS} add column more text default 'more'"),
        format!("alter table {DOCUMENTS} drop column more"),
        format!("reindex table concurrently {DOCUMENTS}"),
        format!("vacuum full {DOCUMENTS}"),
    ];
    for (number, change) in changes.iter().enumerate() {
        session.run(change).await;
        // The last one is too long for a page.
        for (again, words) in [("first", 0), ("second", 1), ("third", 5000)] {
            assert_a_text_is_replaced(&session, &format!("{again}{number}"), &" word".repeat(words)).await;
        }
    }
    session
        .run(&format!("alter table {DOCUMENTS} add constraint c check (document not like '%refused%')"))
        .await;
    let rejected = "select keyed.upsert_by_key('crm.customers', '1', '{\"name\": \"refused\"}')";
    assert_eq!(session.error(rejected, &[]).await.state, "23514");
    session.run(&format!("alter table {DOCUMENTS} drop constraint c; create unique index one on {DOCUMENTS} ((true)) where document like '%refused%'")).await;
    session.run("select keyed.create_record('crm.customers', '{\"name\": \"refused\"}', 'other')").await;
    assert_eq!(session.error(rejected, &[]).await.state, "23505");
    session.run("drop index keyed_state.one; delete from crm.customers where external_key = 'other'").await;
    assert_a_text_is_replaced(&session, "last", "").await;
    database.cluster().assert_no_crash();
}
