//! Jobs of definitions across restarts of the server, and without a free worker slot.

use harness::customers::DOCUMENTS;
use harness::{Cluster, Database, Durability, Proxy, Session};
use std::sync::Arc;

/// More records than a definition processes in its own transaction.
const MANY: usize = 6000;

/// `state, records done` of each job.
const JOBS: &str = "select coalesce(string_agg(state || ', ' || records_done, '; '), '') from keyed.jobs()";

async fn until(session: &Session, expected: &str) {
    session.until(JOBS, expected).await;
}

async fn found(session: &Session, words: &str) -> String {
    let sql = "select keyed.search('crm.customers', jsonb_build_object('global_search', $1::text, 'count', 'exact', 'limit', 1)) ->> 'total'";
    session.text(sql, &[words]).await
}

async fn with_many(database: &Database) -> Session {
    let session = database.session().await;
    session.run(&format!("insert into crm.customers (name) select 'Kindern running ' || n from generate_series(1, {MANY}) n")).await;
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_resumes_after_a_crash() {
    let database = Database::new_durable().await.add_crm().await;
    let session = with_many(&database).await;
    // The job skips locked records, but not this many.
    let locked = format!("select record_id from {DOCUMENTS} order by record_id offset 2000");
    let blocker = database.session().await;
    blocker.run(&format!("begin; select from {DOCUMENTS} where record_id in ({locked}) for update")).await;
    session.rows("select keyed.alter_template('crm.customers', '{\"language\": \"german\"}')", &[]).await;
    until(&session, "running, 2000").await;
    // From here on, it only checks occasionally whether they are unlocked.
    let lookups = "select count(*) from pg_stat_activity \
                 where query = 'keyed: the remaining records are locked by other transactions'";
    session.until(lookups, "1").await;
    let cluster = Arc::clone(database.cluster());
    // The lock that blocks the job ends with the server.
    tokio::task::block_in_place(|| cluster.kill());
    drop((session, blocker));
    tokio::task::block_in_place(|| cluster.start_again());
    let session = database.session().await;
    assert_eq!(session.text(JOBS, &[]).await, "pending, 2000");
    assert_eq!(
        (found(&session, "runs").await, found(&session, "Kindes").await),
        ("4000".into(), "2000".into())
    );
    // A proxy resumes the job when it starts.
    let _proxy = Proxy::start(&database).await;
    until(&session, "").await;
    assert_eq!((found(&session, "runs").await, found(&session, "Kindes").await), ("0".into(), "6000".into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_waits_for_a_worker_slot() {
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let cluster = Arc::clone(database.cluster());
    with_many(&database).await.run("alter system set max_worker_processes = 0").await;
    let restart = || {
        tokio::task::block_in_place(|| {
            cluster.stop();
            cluster.start_again();
        });
    };
    restart();
    let session = database.session().await;
    session.rows("select keyed.alter_template('crm.customers', '{\"language\": \"german\"}')", &[]).await;
    assert_eq!(session.text("select keyed.run_jobs()", &[]).await, "1");
    // A worker that was requested just before might still start.
    session.run("update keyed_state.job set created_at = created_at - interval '1 minute'").await;
    assert_eq!(
        session.text("select state || ': ' || hint from keyed.jobs()", &[]).await,
        "pending: Run SELECT keyed.run_jobs(). If no worker starts, increase max_worker_processes."
    );
    assert_eq!(found(&session, "runs").await, "6000");
    session.run("alter system reset max_worker_processes").await;
    restart();
    let session = database.session().await;
    session.rows("select keyed.run_jobs()", &[]).await;
    until(&session, "").await;
    assert_eq!((found(&session, "runs").await, found(&session, "Kindes").await), ("0".into(), "6000".into()));
}
