//! Checksums of a database's contents.

use harness::customers::{DOCUMENTS, HISTORY, SERIES, VECTORS};
use harness::{Database, Session, array, similar};
use std::collections::BTreeMap;

/// A customer with every kind of value, and a deleted one.
async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            r#"select keyed.upsert_by_key('crm.companies', 'C', '{"name": "ACME"}');
             select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada", "visits": 1.50, "mood": 2.5, "tags": ["x"],
               "seen": "2024-02-29T12:00:00Z", "company": {"external_key": "C"}}');
             select keyed.upsert_by_key('crm.customers', 'B', '{"name": "Ben"}');
             select keyed.delete_record(id) from crm.customers where external_key = 'B'"#,
        )
        .await;
    let set = "select keyed.set_embedding(id, $1) from crm.customers where external_key = 'A'";
    session.rows(set, &[&array(&similar(0.5))]).await;
    (database, session)
}

/// Row count and checksum of each part; tables of `keyed_state` by name.
async fn checksums(session: &Session) -> BTreeMap<String, String> {
    let sql = "select concat_ws(' ', template, part), rows || ' ' || checksum from keyed.checksums()";
    let rows = session.rows(sql, &[]).await;
    let line = |mut row: Vec<Option<String>>| {
        let checksum = row.pop().flatten().unwrap_or_default();
        (row.pop().flatten().unwrap_or_default(), checksum)
    };
    rows.into_iter().map(line).collect()
}

#[tokio::test]
async fn checksum_changes_exactly_when_the_data_changes() {
    let (_database, session) = crm().await;
    let before = checksums(&session).await;
    let rows = |part: &str| before[part].split(' ').next().map(str::to_owned);
    assert_eq!(rows("crm.customers records").as_deref(), Some("2"));
    assert_eq!(rows("crm.customers history").as_deref(), Some("3"));
    assert_eq!(rows("crm.customers documents").as_deref(), Some("1"));
    assert_eq!(rows("crm.customers series").as_deref(), Some("1"));
    assert_eq!(rows("crm.customers vectors").as_deref(), Some("1"));
    assert_eq!(rows("template").as_deref(), Some("2"));
    for (change, changed) in [
        ("update crm.customers set visits = 1.5 where external_key = 'A'", "crm.customers records"),
        ("update crm.customers set name = 'Bea' where deleted_at is not null", "crm.customers records"),
        ("delete from crm.customers where deleted_at is not null", "crm.customers records"),
        (&format!("delete from {HISTORY} where operation = 'delete'"), "crm.customers history"),
        (&format!("update {HISTORY} set actor = 'x' where operation = 'delete'"), "crm.customers history"),
        (&format!("delete from {DOCUMENTS}"), "crm.customers documents"),
        (&format!("update {DOCUMENTS} set document = document || ' '"), "crm.customers documents"),
        (&format!("update {SERIES} set value = 2.5000000000000004"), "crm.customers series"),
        (&format!("update {VECTORS} set live = false"), "crm.customers vectors"),
        ("update keyed_state.attribute set label = 'x' where slug = 'visits'", "attribute"),
    ] {
        session.run(&format!("begin; set local session_replication_role = replica; {change}")).await;
        let mut after = checksums(&session).await;
        session.run("rollback").await;
        assert_ne!(
            after.insert(changed.to_owned(), before[changed].clone()),
            Some(before[changed].clone()),
            "{change}"
        );
        assert_eq!(after, before, "{change} changes {changed} alone");
    }
    assert_eq!(checksums(&session).await, before);
}

#[tokio::test]
async fn checksum_ignores_row_order_and_settings() {
    let (_database, session) = crm().await;
    let before = checksums(&session).await;
    session
        .run(&format!("cluster crm.customers using customers_pkey; cluster {HISTORY} using history_2_pkey"))
        .await;
    session
        .run(
            "set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set extra_float_digits = -5;
             set bytea_output = 'escape'; set intervalstyle = 'iso_8601'; set search_path = crm",
        )
        .await;
    assert_eq!(checksums(&session).await, before);
    assert_eq!(session.text("show datestyle", &[]).await, "German, DMY", "the settings of the session stay");
}

#[tokio::test]
async fn checksums_use_one_snapshot_and_name_the_newest_change() {
    let (database, session) = crm().await;
    session.run("begin isolation level repeatable read").await;
    let before = checksums(&session).await;
    let other = database.session().await;
    other.run("select keyed.upsert_by_key('crm.customers', 'C')").await;
    assert_eq!(checksums(&session).await, before);
    session.run("commit").await;
    assert_ne!(checksums(&session).await, before);
    let newest = "select newest = (select updated_at from crm.customers where external_key = 'C')
                  from keyed.checksums('crm.customers') where part in ('records', 'history')";
    assert_eq!(session.rows(newest, &[]).await, vec![vec![Some("t".to_owned())]; 2]);
    let parts = "select string_agg(template || ' ' || part, ', ') from keyed.checksums('crm.companies')";
    assert_eq!(
        session.text(parts, &[]).await,
        "crm.companies records, crm.companies history, crm.companies documents, crm.companies vectors"
    );
}

#[tokio::test]
async fn only_administrators_compute_checksums() {
    let (database, _session) = crm().await;
    let (clerk, boss) = (database.create_role("clerk").await, database.create_role("boss").await);
    database.grant(&clerk, "crm.customers", "read").await;
    database.session().await.run(&format!("grant keyed_admin to {boss}")).await;
    let error = database.session_as(&clerk).await.error("select * from keyed.checksums()", &[]).await;
    assert_eq!(error.state, "42501");
    let as_boss = checksums(&database.session_as(&boss).await).await;
    assert_eq!(as_boss, checksums(&database.session().await).await);
}
