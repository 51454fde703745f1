//! The tables of documents: creation, removal, rebuild, and the PostgreSQL features they need.

use super::sync::{FOUND, assert_documents_are_true, crm, until_jobs_are_done};
use harness::customers::DOCUMENTS;
use harness::{Database, companies};
use serde_json::json;

#[tokio::test]
async fn bulk_change_of_documents_keeps_their_index() {
    let (_database, session) = crm().await;
    session
        .run(
            "insert into crm.customers (external_key, name, tags) select 'k' || n, 'Ada', array['old'] from generate_series(1, 6000) n;
             select keyed.alter_template('crm.customers', '{\"language\": \"german\", \"drop\": [\"tags\"]}')",
        )
        .await;
    let index = &format!(
        "select pg_get_indexdef(indexrelid) from pg_index where indrelid = '{DOCUMENTS}'::regclass and not indisprimary"
    );
    assert!(session.text(index, &[]).await.contains("keyed.document_words)"));
    assert_eq!(session.text(FOUND, &["old"]).await, "");
    assert_eq!(session.text(FOUND, &["k5999"]).await, "k5999");
    session.run("select keyed.alter_template('crm.customers', '{\"language\": \"english\"}')").await;
    until_jobs_are_done(&session).await;
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn dropped_template_loses_its_documents() {
    let (_database, session) = crm().await;
    session.run("insert into crm.customers (name) values ('x'); truncate crm.customers").await;
    assert_eq!(session.text(&format!("select count(*) from {DOCUMENTS}"), &[]).await, "0");
    session.run("select keyed.drop_template('crm.customers')").await;
    assert_eq!(session.text(&format!("select to_regclass('{DOCUMENTS}') is null"), &[]).await, "t");
}

#[tokio::test]
async fn migration_creates_missing_documents() {
    let (database, session) = crm().await;
    session
        .run(&format!(
            "drop table {DOCUMENTS}, {}; delete from keyed_state.version where number in (2, 3);
             alter table keyed_state.project drop column time_zone;
             select keyed.alter_template('crm.customers', '{{\"label\": \"x\"}}');
             insert into crm.customers (external_key, name) values ('1', 'written before'), ('2', 'gone');
             update crm.customers set deleted_at = now() where external_key = '2'",
            companies::DOCUMENTS
        ))
        .await;
    let error =
        session.error("select keyed.search('crm.customers', '{\"global_search\": \"x\"}')", &[]).await;
    assert!(error.hint.contains("keyed.migrate()"), "{error} {}", error.hint);
    let other = database.session().await;
    other.run("insert into crm.customers (external_key, name) values ('3', 'before as well')").await;
    session.run("select keyed.migrate()").await;
    other.run("insert into crm.customers (external_key, name) values ('4', 'not before')").await;
    assert_eq!(session.text(FOUND, &["before"]).await, "1 3 4");
    assert_documents_are_true(&session).await;
}

#[tokio::test]
async fn pg_trgm_can_be_in_any_schema() {
    let database = Database::empty_in(&harness::Cluster::shared()).await;
    let session = database.session().await;
    session
        .run(
            "create schema \"Odd schema\"; create extension pg_trgm schema \"Odd schema\"; drop schema public;
             create extension keyed; select keyed.create_project('crm');
             select keyed.create_template('crm', 'customers', '[{\"slug\": \"name\", \"type\": \"string\"}]');
             select keyed.upsert_by_key('crm.customers', '1', '{\"name\": \"Ada\"}')",
        )
        .await;
    assert_eq!(session.text(FOUND, &["da"]).await, "");
    assert_eq!(session.text(FOUND, &["ada"]).await, "1");
}

#[tokio::test]
async fn migration_without_pg_trgm_gives_a_hint() {
    let database = Database::new().await;
    let role = database.create_role("admin").await;
    let session = database.session().await;
    session.run(&format!("drop extension pg_trgm; grant keyed_admin to {role}")).await;
    let error = database.session_as(&role).await.error("select keyed.migrate()", &[]).await;
    assert!(error.hint.contains("CREATE EXTENSION pg_trgm"), "{error}");
    session.run("select keyed.migrate()").await;
    let schema = "select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'";
    assert_eq!(session.text(schema, &[]).await, "public");
}

#[tokio::test]
async fn failed_document_rejects_only_its_record() {
    let (database, session) = crm().await;
    // This index accepts only one document, so the error occurs during an insert without a statement.
    session
        .run(&format!("create unique index one_document on {DOCUMENTS} (left(document, 0)); select keyed.upsert_by_key('crm.customers', '1')"))
        .await;
    let error = session.error("select keyed.upsert_by_key('crm.customers', '2')", &[]).await;
    assert_eq!(error.state, "23505");
    let batch = json!([{"op": "upsert", "template": "crm.customers", "external_key": "3"},
        {"op": "upsert", "template": "crm.customers", "external_key": "4"}]);
    let report = session.json("select keyed.batch($1, false)", &[&batch.to_string()]).await;
    assert_eq!(
        (&report["results"][0]["status"], &report["results"][1]["status"]),
        (&json!(409), &json!(409)),
        "{report}"
    );
    session
        .run("drop index keyed_state.one_document; select keyed.upsert_by_key('crm.customers', '2')")
        .await;
    assert_eq!(session.text(FOUND, &["2"]).await, "2");
    database.cluster().assert_no_crash();
}
