//! Two-phase commit: writes, definitions and grants of a prepared transaction take effect exactly at COMMIT PREPARED,
//! in whatever session it runs.

use harness::customers::{DOCUMENTS, HISTORY, SERIES};
use harness::{Cluster, Database, Session};
use std::sync::Arc;

async fn crm() -> (Database, Session) {
    let cluster = Arc::new(Cluster::start_with(&["max_prepared_transactions=10"]));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let session = database.session().await;
    (database, session)
}

/// Every kind of write to records and side tables.
const WRITES: &str = r#"
    select keyed.upsert_by_key('crm.customers', 'K-1', '{"name": "Ada Lovelace", "mood": 3}'),
           keyed.create_record('crm.customers', '{"name": "Grace Hopper"}', 'K-2');
    select keyed.batch('[{"op": "upsert", "template": "crm.customers", "external_key": "K-3", "attributes": {"name": "Edsger"}},
                         {"op": "update", "template": "crm.customers", "external_key": "OLD", "attributes": {"name": "Barbara Liskov"}}]', true);
    insert into crm.customers (external_key, name) values ('K-4', 'Donald Knuth');
    update crm.customers set name = 'Tony Hoare' where external_key = 'K-4';
    select keyed.delete_record(id) from crm.customers where external_key = 'GONE'"#;

const FOUND: &str = "select concat_ws('; ',
    (select string_agg(external_key || ' ' || name, ', ' order by external_key) from crm.customers where deleted_at is null),
    (select string_agg(r ->> 'external_key', ' ' order by r ->> 'external_key')
       from jsonb_array_elements(keyed.search('crm.customers', '{\"global_search\": \"hopper\"}') -> 'records') r),
    (select used from keyed.quota_usage('crm') where name = 'live_records'))";

/// The records, history entries, documents and points.
fn counts() -> String {
    format!(
        "select concat_ws(' ', (select count(*) from crm.customers), (select count(*) from {HISTORY}), (select count(*) from {DOCUMENTS}), (select count(*) from {SERIES}))"
    )
}

async fn with_old_records(session: &Session) {
    session
        .run(r#"select keyed.set_quota('crm', 'live_records', 1000);
                select keyed.upsert_by_key('crm.customers', 'OLD', '{"name": "Old"}'), keyed.upsert_by_key('crm.customers', 'GONE', '{"name": "Gone"}')"#)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prepared_writes_take_effect_at_commit_prepared() {
    let (database, session) = crm().await;
    with_old_records(&session).await;
    let other = database.session().await;
    let before = (other.text(FOUND, &[]).await, other.text(&counts(), &[]).await);
    session.run(&format!("begin; {WRITES}; prepare transaction 'writes'")).await;
    for seen_by in [&session, &other] {
        assert_eq!((seen_by.text(FOUND, &[]).await, seen_by.text(&counts(), &[]).await), before);
    }
    // The key is neither free nor taken.
    let upsert = "set lock_timeout = '100ms'; select keyed.upsert_by_key('crm.customers', 'K-1', '{}')";
    assert_eq!(other.error(upsert, &[]).await.state, "55P03");
    other.run("commit prepared 'writes'").await;
    let after = "K-1 Ada Lovelace, K-2 Grace Hopper, K-3 Edsger, K-4 Tony Hoare, OLD Barbara Liskov; K-2; 5";
    for seen_by in [&session, &other] {
        assert_eq!(seen_by.text(FOUND, &[]).await, after);
        assert_eq!(seen_by.text(&counts(), &[]).await, "6 9 5 1");
    }
    let history = "select string_agg(operation || ' ' || version, ', ' order by version) from crm.customers c, keyed.history(c.id) where c.external_key = 'K-4'";
    assert_eq!(other.text(history, &[]).await, "create 1, update 2");
    let again = "select created from keyed.upsert_by_key('crm.customers', 'K-1', '{\"name\": \"Ada\"}')";
    assert_eq!(session.text(again, &[]).await, "f");
    database.cluster().assert_no_crash();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prepared_writes_leave_nothing_after_rollback_prepared() {
    let (database, session) = crm().await;
    with_old_records(&session).await;
    let before = (session.text(FOUND, &[]).await, session.text(&counts(), &[]).await);
    session.run(&format!("begin; {WRITES}; prepare transaction 'writes'")).await;
    // The session continues with other work, and a restart keeps the transaction.
    session.run("select keyed.upsert_by_key('crm.customers', 'NEXT', '{\"name\": \"Next\"}')").await;
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'NEXT'").await;
    drop(session);
    let cluster = Arc::clone(database.cluster());
    tokio::task::block_in_place(|| {
        cluster.stop();
        cluster.start_again();
    });
    let session = database.session().await;
    session.run("rollback prepared 'writes'").await;
    assert_eq!(session.text(FOUND, &[]).await, before.0);
    session.run(WRITES).await;
    assert!(session.text(FOUND, &[]).await.ends_with("; 5"), "the quota counts each record once");
    database.cluster().assert_no_crash();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prepared_definition_applies_to_all_sessions_after_commit_prepared() {
    let (database, session) = crm().await;
    let other = database.session().await;
    let upsert = "select keyed.upsert_by_key('crm.customers', 'K', '{\"motto\": \"x\"}')";
    for known in [&session, &other] {
        known.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')").await;
    }
    let define =
        r#"begin; select keyed.add_attribute('crm.customers', '{"slug": "motto", "type": "string"}')"#;
    for (end, is_known) in [("rollback prepared 'd'", false), ("commit prepared 'd'", true)] {
        session.run(define).await;
        session.run(&format!("{upsert}; prepare transaction 'd'")).await;
        // The definition keeps the table locked.
        let blocked = format!("set lock_timeout = '100ms'; {upsert}");
        for known in [&session, &other] {
            assert_eq!(known.error(&blocked, &[]).await.state, "55P03", "{end}");
            known.run("set lock_timeout = 0").await;
        }
        other.run(end).await;
        for known in [&session, &other] {
            assert_eq!(known.attempt(upsert, &[]).await.is_ok(), is_known, "{end}");
        }
    }
    let motto = "select keyed.get_by_key('crm.customers', 'K') -> 'attributes' ->> 'motto'";
    assert_eq!(session.text(motto, &[]).await, "x");
    database.cluster().assert_no_crash();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_of_a_prepared_definition_runs_on_request() {
    let (database, session) = crm().await;
    session
        .run("insert into crm.customers (name) select 'running ' || n from generate_series(1, 6000) n")
        .await;
    session.run(r#"begin; select keyed.alter_template('crm.customers', '{"language": "german"}'); prepare transaction 'j'"#).await;
    assert_eq!(session.text("select count(*) from keyed.jobs()", &[]).await, "0");
    session.run("commit prepared 'j'").await;
    // COMMIT PREPARED notifies no process; the service checks once a minute.
    session.run("select keyed.run_jobs()").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    let found = "select keyed.search('crm.customers', '{\"global_search\": \"run\", \"count\": \"exact\", \"limit\": 1}') ->> 'total'";
    let stored = format!("select count(*) from {DOCUMENTS}");
    assert_eq!(session.text(&stored, &[]).await, "6000");
    session.text(found, &[]).await;
    database.cluster().assert_no_crash();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prepared_keys_and_grants_take_effect_at_commit_prepared() {
    let (database, session) = crm().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')").await;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "read").await;
    let proxy = database.session_as("keyed_proxy").await;
    let authenticated =
        |key: &str| format!("select keyed.me() from keyed.authenticate(sha256('{key}'), 'crm')");

    // Issued.
    session.run("begin").await;
    let key = session.text("select keyed.issue_api_key($1::text::name)", &[&clerk]).await;
    session.run("prepare transaction 'k'").await;
    assert_eq!(proxy.error(&authenticated(&key), &[]).await.state, "28000");
    session.run("commit prepared 'k'").await;
    let (mut waited, me) = (0, authenticated(&key));
    // A session may cache for a second that a key is unknown.
    while proxy.attempt(&me, &[]).await.is_err() {
        waited += 1;
        assert!(waited < 600, "the key stays unknown");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    // Revoked.
    session
        .run("begin; select keyed.revoke_api_key(max(id)) from keyed_state.api_key; prepare transaction 'r'")
        .await;
    proxy.run(&me).await;
    session.run("commit prepared 'r'").await;
    assert_eq!(proxy.error(&me, &[]).await.state, "28000");

    // A grant, in the session that prepared it and in the one of the role.
    let reader = database.session_as(&clerk).await;
    let count = "select count(*) from crm.customers";
    let lookup = "select keyed.get_by_key('crm.customers', 'K') ->> 'external_key'";
    assert_eq!((reader.text(count, &[]).await, reader.text(lookup, &[]).await), ("1".into(), "K".into()));
    session.rows("begin; select keyed.revoke_access($1::text::name, 'crm.customers')", &[&clerk]).await;
    session.run("prepare transaction 'g'").await;
    session.run("commit prepared 'g'").await;
    assert_eq!(reader.error(lookup, &[]).await.state, "42501");
    assert!(!matches!(reader.attempt(count, &[]).await, Ok(rows) if rows[0][0].as_deref() != Some("0")));

    // A principal ends with PREPARE TRANSACTION.
    let admin_key = database.api_key("keyed_admin", &["crm"]).await;
    proxy.run(&format!("begin; {}", authenticated(&admin_key))).await;
    proxy.run("select keyed_http.upsert_by_key('customers', '{\"external_key\": \"P\", \"attributes\": {}}', null, false)").await;
    proxy.run("prepare transaction 'p'").await;
    let later = "select keyed_http.upsert_by_key('customers', '{\"external_key\": \"Q\", \"attributes\": {}}', null, false)";
    assert_eq!(proxy.error(later, &[]).await.state, "3F000");
    proxy.run("commit prepared 'p'").await;
    let actor = "select h.actor || ' ' || h.source from crm.customers c, keyed.history(c.id) h where c.external_key = 'P'";
    assert!(session.text(actor, &[]).await.starts_with("issued by a test"), "the key wrote it");
    database.cluster().assert_no_crash();
}
