//! The last slots of a quota: which writers get them or wait, without aborting other transactions.

use crate::quota::writers::{assert_counted, live, set};
use crate::{Waiting, assert_no_deadlock};
use harness::{Database, Service};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

const WRITERS: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_use_exactly_the_quota() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers select from generate_series(1, 900)").await;
    set(&session, "live_records", 1000).await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let session = database.session().await;
        writers.spawn(async move {
            let (mut created, mut rejected) = (0, 0);
            for number in 0..60 {
                let key = format!("{writer}-{number}");
                let create = "select keyed.upsert_by_key('crm.customers', $1)";
                // Every third write is rolled back, and must not use a slot.
                if number % 3 == 0 {
                    session.run("begin").await;
                    let _ = session.attempt(create, &[&key]).await;
                    session.run("rollback").await;
                    continue;
                }
                match session.attempt(create, &[&key]).await {
                    Ok(_) => created += 1,
                    Err(error) => {
                        assert_eq!(error.codes(), ("53400", "quota_exceeded"), "{error:?}");
                        rejected += 1;
                    }
                }
            }
            (created, rejected)
        });
    }
    let outcomes = writers.join_all().await;
    let created: usize = outcomes.iter().map(|outcome| outcome.0).sum();
    let rejected: usize = outcomes.iter().map(|outcome| outcome.1).sum();
    assert_eq!((created, rejected), (100, WRITERS * 40 - 100));
    assert_eq!(live(&session).await, 1000);
    assert_counted(&session).await;
    assert_no_deadlock(&database);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_at_the_limit_never_exceed_it() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let session = service.session().await;
    set(&session, "live_records", 50).await;
    let mut clients = JoinSet::new();
    for client in 0..WRITERS {
        let requests: Vec<_> = (0..25)
            .map(|round| {
                let key = format!("K-{}", (client * 7 + round) % 80);
                match (client + round) % 4 {
                    0 => service.proxy.request("DELETE", &format!("/v1/entities/template/customers/by-key?key={key}")),
                    1 => {
                        let operations: Vec<_> = (0..8)
                            .map(|n| json!({"op": "upsert", "template": "customers", "external_key": format!("K-{}", (client * 5 + round + n) % 80)}))
                            .collect();
                        let body = json!({"operations": operations, "atomic": round % 2 == 0, "conflict": "wait"});
                        service.proxy.request("POST", "/v1/entities/batch").json(&body)
                    }
                    _ => service
                        .proxy
                        .request("PUT", "/v1/entities/template/customers/by-key")
                        .json(&json!({"external_key": key, "attributes": {"visits": {"$inc": 1}}})),
                }
            })
            .collect();
        clients.spawn(async move {
            let mut statuses = Vec::new();
            for request in requests {
                statuses.push(request.send().await.status);
            }
            statuses
        });
    }
    let watcher = service.session().await;
    let mut highest = 0;
    let statuses = loop {
        highest = highest.max(live(&watcher).await);
        match tokio::time::timeout(Duration::from_millis(20), clients.join_next()).await {
            Ok(Some(statuses)) => {
                let statuses = statuses.expect("the client ends");
                assert!(
                    statuses.iter().all(|status| [200, 201, 204, 403, 404].contains(status)),
                    "{statuses:?}"
                );
                if clients.is_empty() {
                    break statuses;
                }
            }
            Ok(None) => break Vec::new(),
            Err(_) => {}
        }
    };
    drop(statuses);
    assert!((40..=50).contains(&highest), "the limit was reached and not exceeded: {highest}");
    assert_counted(&session).await;
}

#[tokio::test]
async fn writer_at_the_limit_waits_for_concurrent_ones() {
    let database = Database::with_crm().await;
    let (holder, observer) = (database.session().await, database.session().await);
    set(&observer, "live_records", 1).await;
    for (end, free) in [("rollback", true), ("commit", false)] {
        holder.run("begin; insert into crm.companies (name) values ('ACME')").await;
        let waiting = Waiting::start(
            database.session().await,
            &observer,
            "insert into crm.customers (external_key) values ('last')",
            &[],
        )
        .await;
        holder.run(end).await;
        match waiting.outcome().await {
            Ok(_) => assert!(free),
            Err(error) => assert_eq!((free, error.state.as_str()), (false, "53400")),
        }
        assert_eq!(live(&observer).await, 1);
        observer.run("update crm.customers set deleted_at = now() where deleted_at is null").await;
    }
    assert_counted(&observer).await;
}

#[tokio::test]
async fn deletion_at_the_limit_does_not_wait() {
    let database = Database::with_crm().await;
    let (holder, observer) = (database.session().await, database.session().await);
    set(&observer, "live_records", 10).await;
    observer.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 9) n").await;
    holder.run("begin; select keyed.upsert_by_key('crm.customers', 'last')").await;
    for (number, end) in ["commit", "rollback", "commit", "commit"].into_iter().enumerate() {
        let deleter = database.session().await;
        deleter.run("set lock_timeout = '2s'").await;
        let number = number + 1;
        deleter.run(&format!("begin; select keyed_http.delete_by_key('2', 'K{number}'); {end}")).await;
    }
    observer.run("set lock_timeout = '2s'").await;
    assert_counted(&observer).await;
    // An update of an existing record needs no slot.
    observer.run("select keyed.upsert_by_key('crm.customers', 'K9', '{\"name\": \"Ada\"}')").await;
    holder.run("commit").await;
    assert_eq!(live(&observer).await, 7);
    for number in 0..3 {
        observer.run(&format!("select keyed.upsert_by_key('crm.customers', 'N{number}')")).await;
    }
    let error = observer.error("select keyed.upsert_by_key('crm.customers', 'N3')", &[]).await;
    assert_eq!(error.codes(), ("53400", "quota_exceeded"));
    assert_counted(&observer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_at_the_limit_abort_no_other_transaction() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 20) n").await;
    set(&session, "live_records", 40).await;
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let session = database.session().await;
        writers.spawn(async move {
            for round in 0..40 {
                let first = (writer * 11 + round * 5) % 60;
                let operations: Vec<_> = (0..10)
                    .map(|n| json!({"op": "upsert", "template": "crm.customers", "external_key": format!("K{}", (first + n * 7) % 60),
                        "attributes": {"visits": round}}))
                    .collect();
                let statement = match (writer + round) % 3 {
                    0 => format!("select keyed_http.delete_by_key('2', 'K{first}')"),
                    1 => format!("select keyed.upsert_by_key('crm.customers', 'K{first}', '{{\"visits\": {round}}}')"),
                    _ => format!("select keyed.batch('{}', {}, 'wait')", json!(operations), round % 2 == 0),
                };
                if let Err(error) = session.attempt(&statement, &[]).await {
                    assert!(["53400", "P0002"].contains(&error.state.as_str()), "{error:?}");
                }
            }
        });
    }
    writers.join_all().await;
    assert!(live(&session).await <= 40);
    assert_counted(&session).await;
    assert_no_deadlock(&database);
}

#[tokio::test]
async fn concurrent_deletion_aborts_no_batch() {
    let database = Database::with_crm().await;
    let observer = database.session().await;
    observer.run("select keyed.upsert_by_key('crm.customers', k) from unnest('{A,B}'::text[]) k").await;
    set(&observer, "live_records", 2).await;
    let batch = |keys: &[&str]| {
        let operation = |key: &&str| json!({"op": "upsert", "template": "crm.customers", "external_key": key, "attributes": {"visits": keys.len()}});
        let operations: Vec<_> = keys.iter().map(operation).collect();
        format!("select keyed.batch('{}', true, 'wait')", json!(operations))
    };
    let deleter = database.session().await;
    deleter.run("begin; select keyed_http.delete_by_key('2', 'B')").await;
    // It changes A, and waits for B, which it creates after the deletion is committed.
    let first = Waiting::start(database.session().await, &observer, &batch(&["A", "B"]), &[]).await;
    let second = Waiting::start(database.session().await, &observer, &batch(&["A", "C", "D"]), &[]).await;
    deleter.run("commit").await;
    assert!(first.outcome().await.is_ok());
    assert_eq!(
        second.outcome().await.expect_err("the quota is reached").codes(),
        ("53400", "quota_exceeded")
    );
    assert_eq!(live(&observer).await, 2);
    assert_counted(&observer).await;
    assert_no_deadlock(&database);
}

#[tokio::test]
async fn released_quota_leaves_few_rows() {
    let database = Database::with_crm().await;
    let (holder, observer) = (database.session().await, database.session().await);
    observer
        .run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 300) n")
        .await;
    set(&observer, "live_records", 310).await;
    holder.run("begin; select keyed.upsert_by_key('crm.customers', 'open')").await;
    for number in 1..=200 {
        observer.run(&format!("select keyed_http.delete_by_key('2', 'K{number}')")).await;
    }
    holder.run("commit").await;
    let slots = "select count(*) from keyed_state.quota_slot where slot >= 1000";
    assert_eq!(observer.text(slots, &[]).await, "1");
    assert_counted(&observer).await;
    observer
        .run("select keyed.upsert_by_key('crm.customers', 'N' || n) from generate_series(1, 209) n")
        .await;
    let error = observer.error("select keyed.upsert_by_key('crm.customers', 'beyond')", &[]).await;
    assert_eq!(error.codes(), ("53400", "quota_exceeded"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_quota_aborts_no_transaction() {
    let database = Database::with_crm().await;
    let (writer, observer) = (database.session().await, database.session().await);
    set(&observer, "live_records", 200).await;
    // The writer has one slot, then needs all of them, and finds an administrator between the two.
    writer.run("begin; insert into crm.customers default values").await;
    let taking = Waiting::start(
        database.session().await,
        &observer,
        "select keyed.set_quota('crm', 'live_records', null)",
        &[],
    )
    .await;
    writer.run("insert into crm.customers select from generate_series(1, 195); commit").await;
    taking.outcome().await.expect("the quota is released when the writer ends");
    assert_eq!(live(&observer).await, 196);
    set(&observer, "live_records", 200).await;
    assert_counted(&observer).await;
}
