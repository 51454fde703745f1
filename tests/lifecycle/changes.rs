//! Cursors of the change feed over the life of a database: they expire only when changes may have been lost.

use harness::{Cluster, Database, Durability, Session};
use serde_json::Value;
use std::sync::Arc;
use tokio::task::block_in_place;

async fn database(durability: Durability) -> Database {
    Database::new_in(&Arc::new(Cluster::start(durability))).await.add_crm().await
}

async fn upsert(session: &Session, key: &str) {
    session.rows("select keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"Ada\"}')", &[key]).await;
}

async fn page(session: &Session, after: &str) -> Value {
    session.json("select keyed.changes('crm', after => $1)", &[after]).await
}

/// The keys after a cursor, and the cursor after them.
async fn read(session: &Session, after: &str) -> (Vec<String>, String) {
    let page = page(session, after).await;
    let keys = page["changes"].as_array().expect("changes").iter();
    let keys = keys.map(|change| change["external_key"].as_str().expect("a key").to_owned()).collect();
    (keys, page["next_cursor"].as_str().expect("a cursor").to_owned())
}

async fn assert_must_resync(session: &Session, after: &str) {
    let error = session.error("select keyed.changes('crm', after => $1)", &[after]).await;
    assert_eq!(error.codes(), ("24000", "resync_required"), "{error}");
}

#[tokio::test]
async fn cursors_expire_with_a_restore_unless_the_administrator_keeps_them() {
    let source = database(Durability::None).await;
    let session = source.session().await;
    upsert(&session, "before").await;
    let (_, cursor) = read(&session, "start").await;
    let cluster = Arc::new(Cluster::start(Durability::None));
    let copy = source.copied_to(&cluster).await;
    let session = copy.session().await;
    assert_must_resync(&session, &cursor).await;
    let (keys, fresh) = read(&session, "start").await;
    assert_eq!(keys, ["before"]);
    upsert(&session, "after").await;
    assert_must_resync(&session, &cursor).await;
    assert_eq!(read(&session, &fresh).await.0, ["after"]);
    session.run("select keyed.init(); select keyed.continue_changes()").await;
    assert_eq!(read(&session, &cursor).await.0, ["after"]);
    assert_eq!(read(&session, "start").await.0, ["before", "after"]);
}

#[tokio::test]
async fn cursors_expire_with_a_restore_in_place() {
    let database = database(Durability::None).await;
    let session = database.session().await;
    upsert(&session, "before").await;
    let archive = database.dump(&["--format=custom"]);
    upsert(&session, "lost").await;
    let (_, cursor) = read(&session, "start").await;
    session
        .run("drop schema crm cascade; drop schema keyed_state, keyed_scope cascade; drop extension keyed cascade")
        .await;
    let mut restore = database.cluster().program("pg_restore");
    harness::output(restore.args(["--clean", "--if-exists", "--dbname", database.name()]), &archive);
    let session = database.session().await;
    assert_must_resync(&session, &cursor).await;
    upsert(&session, "after").await;
    assert_must_resync(&session, &cursor).await;
    assert_eq!(read(&session, "start").await.0, ["before", "after"]);
}

#[tokio::test]
async fn changes_in_the_feed_survive_a_crash_after_an_asynchronous_commit() {
    let database = database(Durability::Full).await;
    let session = database.session().await;
    let (_, start) = read(&session, "start").await;
    session.run("set synchronous_commit = off").await;
    session.run("alter system set wal_writer_delay = '10s'").await;
    session.run("select pg_reload_conf()").await;
    upsert(&session, "shown").await;
    let (keys, cursor) = read(&session, &start).await;
    assert_eq!(keys, ["shown"]);
    database.cluster().kill();
    database.cluster().start_again();
    let session = database.session().await;
    assert_eq!(read(&session, &start).await.0, ["shown"]);
    upsert(&session, "later").await;
    assert_eq!(read(&session, &cursor).await.0, ["later"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_expires_only_cursors_ahead_of_the_new_primary() {
    let primary = database(Durability::None).await;
    let session = primary.session().await;
    upsert(&session, "both").await;
    let standby = block_in_place(|| primary.cluster().start_standby());
    let standby = primary.in_cluster(standby);
    upsert(&session, "replicated").await;
    block_in_place(|| standby.cluster().catch_up_with(primary.cluster()));
    let (keys, cursor) = read(&standby.session().await, "start").await;
    assert_eq!(keys, ["both", "replicated"], "a standby shows the feed, too");
    let (_, of_primary) = read(&session, "start").await;
    block_in_place(|| standby.cluster().catch_up_with(primary.cluster()));
    block_in_place(|| standby.cluster().stop());
    upsert(&session, "lost").await;
    let (keys, ahead) = read(&session, &cursor).await;
    assert_eq!(keys, ["lost"]);
    block_in_place(|| primary.cluster().kill());
    block_in_place(|| standby.cluster().start_again());
    let session = standby.session().await;
    session.run("select pg_promote()").await;
    upsert(&session, "on the new primary").await;
    for cursor in [&cursor, &of_primary] {
        assert_eq!(read(&session, cursor).await.0, ["on the new primary"]);
    }
    assert_must_resync(&session, &ahead).await;
}
