//! Locks are taken in one order, even if records of one template reference each other and definitions change.

use crate::assert_no_deadlock;
use harness::Database;
use tokio::task::JoinSet;

#[tokio::test]
async fn batches_with_cyclic_references_do_not_deadlock() {
    let database = Database::with_crm().await;
    let owner = database.session().await;
    owner.run("select keyed.create_template('crm', 'people', '[{\"slug\": \"boss\", \"type\": \"reference\", \"template\": \"people\"}, {\"slug\": \"n\", \"type\": \"number\"}]')").await;
    let mut sessions = JoinSet::new();
    for _ in 0..6 {
        let session = database.session().await;
        sessions.spawn(async move {
            for _ in 0..20 {
                // Thirty of sixty keys in random order, each with a boss among the sixty.
                let batch = "select keyed.batch((select jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'crm.people',
                      'external_key', 'p' || k, 'attributes', jsonb_build_object('n', (random() * 1000)::int,
                      'boss', jsonb_build_object('external_key', 'p' || boss)))) from (select k, lead(k, 7, k) over () as boss
                      from (select k from generate_series(1, 60) k order by random() limit 30) s) t), true, 'wait')";
                session.rows(batch, &[]).await;
            }
        });
    }
    sessions.join_all().await;
    assert_no_deadlock(&database);
    let unlinked = "select count(*) from crm.people where boss is null";
    assert_eq!(owner.text(unlinked, &[]).await, "0");
}

#[tokio::test]
async fn changes_of_a_template_are_serialized() {
    let database = Database::with_crm().await;
    let mut sessions = JoinSet::new();
    for number in 0..6 {
        let session = database.session().await;
        sessions.spawn(async move {
            for round in 0..5 {
                let alter = format!(
                    "select keyed.alter_attribute('crm.customers', 'name', '{{\"label\": \"Name {number} {round}\"}}')"
                );
                session.rows(&alter, &[]).await;
            }
        });
    }
    sessions.join_all().await;
    assert_no_deadlock(&database);
}

#[tokio::test]
async fn grants_and_reference_reads_do_not_deadlock() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let administrator = database.session().await;
    administrator
        .run(
            r#"select keyed.upsert_by_key('crm.companies', 'C', '{"name": "ACME"}');
               select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada", "company": {"external_key": "C"}}')"#,
        )
        .await;
    let mut sessions = JoinSet::new();
    for number in 0..4 {
        let session = database.session().await;
        sessions.spawn(async move {
            let search = r#"{"filters": [{"field": "company.name", "operator": "like", "value": "AC"}]}"#;
            let change = format!(r#"{{"name": "{number}", "company": {{"external_key": "C"}}}}"#);
            for _ in 0..150 {
                session.rows("select keyed.search('crm.customers', $1)", &[search]).await;
                session.rows("select keyed.upsert_by_key('crm.customers', 'A', $1)", &[&change]).await;
            }
        });
    }
    let grants = format!(
        "select keyed.grant_access('{role}', 'crm', '{{read,update}}'), keyed.revoke_access('{role}', 'crm')"
    );
    for _ in 0..15 {
        administrator.rows(&grants, &[]).await;
    }
    sessions.join_all().await;
    assert_no_deadlock(&database);
}

#[tokio::test]
async fn waiting_grant_does_not_block_others() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let reader = database.session().await;
    reader.run("begin; select count(*) from crm.customers").await;
    let administrator = database.session().await;
    let grant = format!("select keyed.grant_access('{role}', 'crm.customers', '{{read}}')");
    let granting = tokio::spawn(async move { administrator.run(&grant).await });
    let other = database.session().await;
    other.run("set statement_timeout = '30s'").await;
    for _ in 0..10 {
        other.rows("select keyed.search('crm.customers')", &[]).await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    reader.run("commit").await;
    granting.await.expect("the task completes");
    assert_eq!(database.session_as(&role).await.text("select count(*) from crm.customers", &[]).await, "0");
}

#[tokio::test]
async fn waiting_change_does_not_block_others() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let administrator = database.session().await;
    administrator
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods', '[{\"slug\": \"n\", \"type\": \"number\"}]')")
        .await;
    database.grant(&role, "crm.companies", "read").await;
    let reader = database.session().await;
    reader.run("begin; select count(*) from crm.customers").await;
    let waiting = database.session().await;
    let alter = "select keyed.add_attribute('crm.customers', '{\"slug\": \"late\", \"type\": \"number\"}')";
    let waiting = tokio::spawn(async move { waiting.rows(alter, &[]).await });
    let observer = database.session().await;
    observer.until_blocked(1).await;
    administrator.run("set statement_timeout = '30s'").await;
    for statement in [
        "select keyed.save_view('shop.goods', 'some', '{\"filters\": [{\"field\": \"n\", \"operator\": \"gt\", \"value\": 1}]}')".to_owned(),
        "select keyed.create_template('shop', 'orders')".to_owned(),
        "select keyed.add_attribute('crm.companies', '{\"slug\": \"more\", \"type\": \"string\"}')".to_owned(),
        format!("select keyed.grant_access('{role}', 'crm.companies', '{{update}}')"),
        format!("select keyed.revoke_access('{role}', 'crm.companies')"),
    ] {
        administrator.rows(&statement, &[]).await;
        assert!(!waiting.is_finished(), "it waits for the reader: {statement}");
    }
    reader.run("commit").await;
    waiting.await.expect("the task completes");
}
