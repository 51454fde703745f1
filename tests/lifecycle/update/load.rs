//! An update with concurrent sessions.

use super::{UPDATE, update};
use harness::Database;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[tokio::test]
async fn update_locks_no_table() {
    let database = Database::of_the_release().await;
    let (worker, updater) = (database.session().await, database.session().await);
    worker.run("begin; select keyed.upsert_by_key('crm.customers', 'open', '{\"name\": \"x\"}')").await;
    worker.run("declare c cursor for select keyed.get_record(id) from crm.customers where deleted_at is null; fetch 1 from c").await;
    updater.run("set lock_timeout = '1min'; begin").await;
    updater.run(UPDATE).await;
    let locks = "select string_agg(l.relation::regclass || ' ' || l.mode, ', ') from pg_locks l join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relnamespace <> 'pg_catalog'::regnamespace and c.relnamespace <> 'pg_toast'::regnamespace
          and c.relkind <> 'v'"; // The views that the update creates.
    assert_eq!(updater.text(locks, &[]).await, "");
    // Functions that are already replaced can be called as before.
    worker
        .run("select keyed.upsert_by_key('crm.customers', 'open', '{\"name\": \"y\"}'); fetch all from c")
        .await;
    updater.run("commit").await;
    worker.run("select keyed.upsert_by_key('crm.customers', 'open', '{\"name\": \"z\"}'); commit").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn update_does_not_disturb_sessions() {
    let database = Arc::new(Database::of_the_release().await);
    let (is_over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let (database, is_over, done) = (Arc::clone(&database), Arc::clone(&is_over), Arc::clone(&done));
            tokio::spawn(async move {
                let session = database.session().await;
                session.run("prepare find (text) as select keyed.get_by_key('crm.customers', $1)").await;
                while !is_over.load(Ordering::Relaxed) {
                    let key = format!("load:{number}");
                    session.run(&format!("select keyed.upsert_by_key('crm.customers', '{key}', '{{\"visits\": {{\"$inc\": 1}}}}')")).await;
                    session.run(&format!("execute find ('{key}')")).await;
                    session.run("select keyed.search('crm.customers', '{\"global_search\": \"horse\"}')").await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let so_many = async |count: usize| {
        let expected = done.load(Ordering::Relaxed) + count;
        harness::until("the workers are busy", async || done.load(Ordering::Relaxed) >= expected).await;
    };
    so_many(20).await;
    update(&database).await;
    so_many(20).await;
    is_over.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await.expect("no statement was rejected");
    }
    let counted = "select sum(visits) from crm.customers where external_key like 'load:%'";
    assert_eq!(database.session().await.text(counted, &[]).await, done.load(Ordering::Relaxed).to_string());
}
