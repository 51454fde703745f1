//! Quotas are exact with many concurrent writers, without unnecessary waits.

use harness::{Database, Session};
use std::time::Duration;
use tokio::task::JoinSet;

pub(crate) async fn set(session: &Session, name: &str, maximum: usize) {
    session.rows("select keyed.set_quota('crm', $1, $2::bigint)", &[name, &maximum.to_string()]).await;
}

pub(crate) async fn live(session: &Session) -> usize {
    let count = "select (select count(*) from crm.customers where deleted_at is null) + (select count(*) from crm.companies where deleted_at is null)";
    session.text(count, &[]).await.parse().expect("a number")
}

/// The counted usage equals the number of stored records.
pub(crate) async fn assert_counted(session: &Session) {
    let used =
        session.text("select used from keyed.quota_usage('crm') where name = 'live_records'", &[]).await;
    assert_eq!(used, live(session).await.to_string());
}

#[tokio::test]
async fn old_snapshot_does_not_exceed_the_quota() {
    let database = Database::with_crm().await;
    let (holder, observer, old) =
        (database.session().await, database.session().await, database.session().await);
    set(&observer, "live_records", 10).await;
    observer.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 8) n").await;
    holder.run("begin; select keyed.upsert_by_key('crm.customers', 'open')").await;
    old.run("begin isolation level repeatable read; select count(*) from crm.customers").await;
    for number in 1..=4 {
        observer.run(&format!("select keyed_http.delete_by_key('2', 'K{number}')")).await;
    }
    holder.run("commit").await;
    let outcome = old.attempt("select keyed.upsert_by_key('crm.customers', 'old')", &[]).await;
    if let Err(error) = outcome {
        assert_eq!(error.codes(), ("40001", "unavailable"), "{error}");
    }
    let _ = old.attempt("commit", &[]).await;
    for number in 0..20 {
        let _ =
            observer.attempt(&format!("select keyed.upsert_by_key('crm.customers', 'N{number}')"), &[]).await;
    }
    assert_eq!(live(&observer).await, 10);
    assert_counted(&observer).await;
}

#[tokio::test]
async fn nearly_exhausted_quota_does_not_block_other_projects() {
    let database = Database::with_crm().await;
    let (holder, observer) = (database.session().await, database.session().await);
    set(&observer, "live_records", 40).await;
    set(&observer, "writes_per_day", 1_000_000).await;
    observer.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 20) n").await;
    holder.run("begin; select keyed.upsert_by_key('crm.customers', 'open')").await;
    observer.run("set lock_timeout = '2s'").await;
    for statement in [
        "select keyed.upsert_by_key('crm.customers', 'K1', '{\"visits\": 5}')",
        "update crm.customers set visits = 6 where external_key = 'K2'",
        "select keyed_http.delete_by_key('2', 'K3')",
    ] {
        observer.run(statement).await;
    }
    holder.run("rollback").await;
    assert_counted(&observer).await;
}

#[tokio::test]
async fn large_open_statement_leaves_quota_to_others() {
    let database = Database::with_crm().await;
    let (holder, writer) = (database.session().await, database.session().await);
    set(&writer, "live_records", 10_000).await;
    holder.run("begin; insert into crm.customers select from generate_series(1, 3000)").await;
    writer.run("set lock_timeout = '2s'").await;
    for _ in 0..100 {
        writer.run("insert into crm.customers default values").await;
    }
    holder.run("rollback").await;
    assert_counted(&writer).await;
}

#[tokio::test]
async fn writers_below_the_limit_do_not_wait() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    set(&session, "live_records", 100_000).await;
    set(&session, "writes_per_day", 100_000).await;
    let mut holders = Vec::new();
    for _ in 0..40 {
        let holder = database.session().await;
        holder.run("begin; insert into crm.customers default values").await;
        holders.push(holder);
    }
    let writer = database.session().await;
    // The holders stay open until this is done, so a writer that waits for one of them fails here.
    writer.run("set lock_timeout = '20s'").await;
    for _ in 0..50 {
        writer.run("insert into crm.customers default values").await;
    }
    writer.run("insert into crm.customers select from generate_series(1, 5000)").await;
    writer.run("update crm.customers set deleted_at = now()").await;
    for holder in &holders {
        holder.run("commit").await;
    }
    assert_eq!(live(&session).await, 40);
    assert_counted(&session).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_quota_counts_concurrent_writes() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let mut writers = JoinSet::new();
    for writer in 0..6 {
        let session = database.session().await;
        writers.spawn(async move {
            for number in 0..150 {
                session
                    .rows("select keyed.upsert_by_key('crm.customers', $1)", &[&format!("{writer}-{number}")])
                    .await;
                if number % 3 == 0 {
                    session
                        .rows("select keyed_http.delete_by_key('2', $1)", &[&format!("{writer}-{number}")])
                        .await;
                }
            }
        });
    }
    for round in 0..5 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        set(&session, "live_records", 100_000).await;
        if round < 4 {
            tokio::time::sleep(Duration::from_millis(60)).await;
            session.run("select keyed.set_quota('crm', 'live_records', null)").await;
        }
    }
    writers.join_all().await;
    assert_eq!(live(&session).await, 600);
    assert_counted(&session).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daily_writes_are_counted_exactly() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 8) n").await;
    set(&session, "writes_per_day", 200).await;
    session.run("update keyed_state.quota_slot set day = '2000-01-01', used = allowed").await;
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let session = database.session().await;
        writers.spawn(async move {
            let upsert = format!(
                "select keyed.upsert_by_key('crm.customers', 'K{}', '{{\"visits\": {{\"$inc\": 1}}}}')",
                writer + 1
            );
            let mut written = 0;
            for _ in 0..40 {
                match session.attempt(&upsert, &[]).await {
                    Ok(_) => written += 1,
                    Err(error) => assert_eq!(error.state, "53400"),
                }
            }
            written
        });
    }
    let written: usize = writers.join_all().await.into_iter().sum();
    assert_eq!(written, 200);
    assert_eq!(session.text("select sum(visits) from crm.customers", &[]).await, "200");
}
