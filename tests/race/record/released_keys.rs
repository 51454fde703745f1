//! One key that moves from record to record: by plain SQL, as any client of PostgreSQL sends it.

use crate::{Waiting, assert_no_deadlock, live};
use harness::customers::HISTORY;
use harness::{Database, Session};
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test]
async fn deletion_does_not_wait_for_referring_writes() {
    let database = Database::with_crm().await;
    let (first, second) = (database.session().await, database.session().await);
    second.run("set lock_timeout = '2s'").await;
    for (release, undo) in [
        (
            "select keyed.delete_record(id) from crm.companies",
            "select keyed.restore_record(id) from crm.companies",
        ),
        ("update crm.companies set deleted_at = now()", "update crm.companies set deleted_at = null"),
        ("update crm.companies set external_key = 'C-2'", "update crm.companies set external_key = 'C-1'"),
    ] {
        first.run("select keyed.upsert_by_key('crm.companies', 'C-1', '{\"name\": \"ACME\"}')").await;
        first.run("begin; insert into crm.customers (company) select id from crm.companies").await;
        second.run(release).await;
        second.run(undo).await;
        // A transaction that references the record may still write it, without deadlock.
        first.run("update crm.companies set name = 'x'; rollback").await;
    }
    assert_no_deadlock(&database);
}

#[tokio::test]
async fn waiting_upsert_creates_after_deletion_and_updates_after_restore() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let upsert = "insert into crm.customers (external_key, name) values ('K', 'new') \
                  on conflict (external_key) do update set name = 'newer' returning name";
    for (before, release, end, name) in [
        ("deleted_at = null", "update crm.customers set deleted_at = now()", "commit", "new"),
        ("deleted_at = null", "update crm.customers set deleted_at = now()", "rollback", "newer"),
        ("deleted_at = now()", "update crm.customers set deleted_at = null", "commit", "newer"),
        ("deleted_at = now()", "update crm.customers set deleted_at = null", "rollback", "new"),
        ("deleted_at = now()", "select keyed.restore_record(id) from crm.customers", "commit", "newer"),
    ] {
        first.run("delete from crm.customers; insert into crm.customers (external_key) values ('K')").await;
        first.run(&format!("update crm.customers set {before}")).await;
        first.run(&format!("begin; {release}")).await;
        let waiting = Waiting::start(database.session().await, &observer, upsert, &[]).await;
        first.run(end).await;
        let rows = waiting.outcome().await.expect("an upsert");
        assert_eq!(rows, [[Some(name.to_owned())]], "{before}; {release}; {end}");
        assert_eq!(live(&observer, "K").await, "1", "{before}; {release}; {end}");
    }
}

/// One client: upserts, deletions and restores of the same key, as psql would send them.
async fn juggle(session: Session, mut seed: u64) {
    for _ in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let statement = match (seed >> 33) % 4 {
            0 => {
                "insert into crm.customers (external_key, visits) values ('K', 1) on conflict (external_key) do update set visits = 2"
            }
            1 => "update crm.customers set deleted_at = now() where external_key = 'K'",
            2 => {
                "update crm.customers set deleted_at = null where id = (select id from crm.customers where _released_key = 'K' limit 1)"
            }
            _ => "select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": 3}')",
        };
        if let Err(error) = session.attempt(statement, &[]).await {
            // A restored record finds its key taken. No other error may occur.
            assert!(
                error.state == "23505" && statement.contains("deleted_at = null"),
                "{statement}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn key_has_one_live_record_and_deleted_records_still_show_it() {
    let database = Database::with_crm().await;
    let mut clients = JoinSet::new();
    for seed in 1..=4 {
        clients.spawn(juggle(database.session().await, seed * 7919));
    }
    let ended = tokio::time::timeout(Duration::from_secs(60), clients.join_all()).await;
    assert!(ended.is_ok(), "the clients wait for each other");
    let session = database.session().await;
    let broken = "select count(*) from crm.customers where (deleted_at is null) <> (external_key is not null) \
                  or (deleted_at is null) <> (_released_key is null)";
    assert_eq!(session.text(broken, &[]).await, "0");
    let holders = "select count(*) <= 1 from crm.customers where deleted_at is null";
    assert_eq!(session.text(holders, &[]).await, "t");
    let forgotten = &format!("select count(*) from {HISTORY} h where h.external_key is distinct from 'K'");
    assert_eq!(session.text(forgotten, &[]).await, "0", "history shows the key after any outcome");
}
