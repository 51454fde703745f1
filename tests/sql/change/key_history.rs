//! The history of a key: the records that have held it.

use harness::{Database, id_of};

#[tokio::test]
async fn history_of_a_key_lists_each_holder_and_how_it_lost_the_key() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let create = "select keyed.create_record('crm.customers', '{}', $1)";
    let first = id_of(&session.json(create, &["K"]).await).to_owned();
    session.rows("select keyed.patch_record($1, '{\"external_key\": \"L\"}')", &[&first]).await;
    let second = id_of(&session.json(create, &["K"]).await).to_owned();
    session.rows("select keyed.patch_record($1, '{\"attributes\": {\"visits\": 1}}')", &[&second]).await;
    session.rows("select keyed.delete_record($1)", &[&second]).await;
    session.rows("select keyed.patch_record($1, '{\"external_key\": \"K\"}')", &[&first]).await;
    let sql = "select id, ended_by, \"from\" <= coalesce(until, now()) from keyed.key_history('crm.customers', ' K ')";
    let rows = session.rows(sql, &[]).await;
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            vec![text(&first), None, text("t")],
            vec![text(&second), text("delete"), text("t")],
            vec![text(&first), text("update"), text("t")],
        ]
    );
    assert!(session.rows("select from keyed.key_history('crm.customers', 'never')", &[]).await.is_empty());
}

#[tokio::test]
async fn history_of_a_key_lists_only_visible_records() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            r#"insert into crm.customers (external_key, visits) values ('K', 1);
               update crm.customers set deleted_at = now();
               insert into crm.customers (external_key, visits) values ('K', 9)"#,
        )
        .await;
    let role = database.create_role("reader").await;
    session.run(&format!("grant usage on schema crm to {role}")).await;
    let scope = r#"{"filters": [{"field": "visits", "operator": "gt", "value": 5}]}"#;
    session.rows("select keyed.grant_access($1, 'crm.customers', '{read}', $2)", &[&role, scope]).await;
    let reader = database.session_as(&role).await;
    let count = "select count(*) from keyed.key_history('crm.customers', 'K')";
    assert_eq!((session.text(count, &[]).await, reader.text(count, &[]).await), ("2".into(), "1".into()));
    let rejected = reader.error("select keyed.key_history('crm.companies', 'K')", &[]).await;
    assert_eq!(rejected.codes().0, "42501");
}
