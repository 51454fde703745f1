//! Indexes on many records are built in the background.

use super::*;
use harness::customers::DOCUMENTS;
use harness::major_version;
use std::time::Duration;

#[tokio::test]
async fn index_build_blocks_no_reads_or_writes() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    let running = jobs(&session).await;
    assert_eq!((&running[0]["kind"], &running[0]["attribute"]), (&json!("index"), &json!("name")));
    assert_eq!(running[0]["state"], "running");
    assert!(running[0]["phase"].is_string(), "{running:?}");
    let starting = json!({"filters": [{"field": "name", "operator": "starts-with", "value": "Kindern"}], "sort": "name"});
    assert_eq!(found(&session, starting.clone()).await, 6000);
    session.rows("select keyed.upsert_by_key('crm.customers', 'new', '{\"name\": \"Kindern\"}')", &[]).await;
    session.run("update crm.customers set name = 'other' where visits <= 10").await;
    assert_eq!(found(&session, starting.clone()).await, 5991);

    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(indexes(&session, "name").await, ("2".into(), "0".into()));
    assert_eq!(found(&session, starting).await, 5991);
    set_indexed(&session, "name", false).await;
    assert_eq!(indexes(&session, "name").await, ("0".into(), "0".into()));
}

#[tokio::test]
async fn job_workers_ignore_timeouts_of_the_proxy_role() {
    let (database, session) = with_many().await;
    for setting in ["statement_timeout", "lock_timeout", "transaction_timeout"] {
        if setting == "transaction_timeout" && major_version() < 17 {
            continue;
        }
        let name = database.name();
        session.run(&format!("alter role keyed_proxy in database {name} set {setting} = '100ms'")).await;
    }
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    // Longer than each of these timeouts.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let workers = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
    assert_eq!(session.text(workers, &[]).await, "1");
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(indexes(&session, "name").await, ("2".into(), "0".into()));
}

#[tokio::test]
async fn definition_does_not_wait_for_an_index_build() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    session.rows("select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"title\"}')", &[]).await;
    set_indexed(&session, "visits", true).await;
    session.rows("select keyed.add_attribute('crm.customers', '{\"slug\": \"since\", \"type\": \"date\", \"indexed\": true}')", &[]).await;
    assert_eq!(jobs(&session).await.len(), 3);
    // An index that is canceled before its job runs is not built.
    set_indexed(&session, "visits", false).await;
    blocker.run("rollback").await;
    until_done(&session).await;
    for (slug, count) in [("title", "2"), ("visits", "0"), ("since", "1")] {
        assert_eq!(indexes(&session, slug).await, (count.into(), "0".into()), "{slug}");
    }
}

#[tokio::test]
async fn definition_without_schema_usage_does_not_wait_for_an_index_build() {
    let (database, session) = with_many().await;
    let table = session.text("select 'crm.customers'::regclass::oid", &[]).await;
    let _blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    session.run("revoke usage on schema crm from public, keyed_admin; set role keyed_admin").await;
    assert_eq!(session.text("select has_schema_privilege('crm', 'usage')", &[]).await, "f");
    session
        .run(&format!("select keyed.alter_template({table}::oid::regclass, '{{\"label\": \"Clients\"}}')"))
        .await;
}

#[tokio::test]
async fn dry_run_does_not_interrupt_an_index_build() {
    let (database, session) = with_many().await;
    let _blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    let worker = "select pid || ' ' || query_start from pg_stat_activity
                  where datname = current_database() and backend_type = 'keyed jobs'";
    let before = session.text(worker, &[]).await;
    let change =
        "select keyed.alter_attribute('crm.customers', 'visits', '{\"required\": true}', dry_run => true)";
    let error = session.attempt(change, &[]).await.expect_err("the table is in use");
    assert_eq!(error.state, "55P03", "{error}");
    assert_eq!(session.text(worker, &[]).await, before);
}

#[tokio::test]
async fn definition_does_not_wait_for_an_index_build_on_its_target() {
    let (database, session) = with_many().await;
    session
        .rows(
            "select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')",
            &[],
        )
        .await;
    let reference = r#"{"slug": "buyer", "type": "reference", "template": "customers"}"#;
    let _blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    for statement in [
        format!("select keyed.add_attribute('crm.orders', '{reference}')"),
        "select keyed.drop_attribute('crm.orders', 'buyer')".to_owned(),
        format!("select keyed.create_template('crm', 'invoices', '[{reference}]')"),
        "select keyed.drop_template('crm.invoices')".to_owned(),
    ] {
        until_blocked(&session).await;
        session.run(&format!("set statement_timeout = '20s'; {statement}")).await;
    }
    assert_eq!(jobs(&session).await.len(), 1);
}

#[tokio::test]
async fn template_is_dropped_during_its_job() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    session.rows("select keyed.drop_template('crm.customers', with_records => true)", &[]).await;
    assert_eq!(jobs(&session).await, Vec::<Value>::new());
    blocker.run("rollback").await;
    assert_eq!(session.text("select to_regclass('crm.customers') is null", &[]).await, "t");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn document_index_of_an_earlier_class_is_used_until_replaced() {
    let (database, session) = with_many().await;
    let name = DOCUMENTS.trim_start_matches("keyed_state.");
    session
        .run(&format!(
            "update crm.customers set tags = array[repeat('town ', 80)];
             drop index {DOCUMENTS}_trigram;
             create index {name}_trigram on {DOCUMENTS} using gin (document keyed.document_trigrams)"
        ))
        .await;
    let blocker = with_old_snapshot(&database).await;
    session.run("select keyed.migrate()").await;
    until_blocked(&session).await;
    let running = jobs(&session).await;
    assert_eq!((&running[0]["kind"], &running[0]["attribute"]), (&json!("index"), &Value::Null));
    let class = format!(
        "select string_agg(i.indexrelid::regclass || ' ' || c.opcname, ', ') from pg_index i
         join pg_opclass c on c.oid = i.indclass[0] join pg_am a on a.oid = c.opcmethod and a.amname = 'gin'
         where i.indrelid = '{DOCUMENTS}'::regclass and i.indisvalid"
    );
    assert_eq!(session.text(&class, &[]).await, format!("{DOCUMENTS}_trigram document_trigrams"));
    session.run("update crm.customers set name = 'Zugspitze' where visits <= 10").await;
    for is_done in [false, true] {
        for (words, count) in [("zugspitz", 10), ("town zugspitze", 10), ("town", 6000)] {
            let body = json!({"global_search": words, "count": "exact", "limit": 1}).to_string();
            let result = session.json("select keyed.search('crm.customers', $1)", &[&body]).await;
            assert_eq!(result["total"], count, "{words}");
        }
        if !is_done {
            blocker.run("rollback").await;
            until_done(&session).await;
        }
    }
    assert_eq!(session.text(&class, &[]).await, format!("{DOCUMENTS}_trigram document_words"));
}
