//! The objects of an updated database, and its results.

use super::{RELEASE, UPDATE, new, results, results_of, update};
use harness::catalog::{assert_complete, assert_same};
use harness::{Cluster, Database, repository_folder};

const VERSION: &str = "select extversion from pg_extension where extname = 'keyed'";

#[tokio::test]
async fn updated_database_has_the_objects_of_a_new_one() {
    let updated = Database::of_the_release().await;
    update(&updated).await;
    let catalog = new().await.catalog().await;
    assert_complete(&catalog);
    assert_same(&updated.catalog().await, &catalog);
    let pending = "select cardinality(keyed.pending_migrations())";
    assert_eq!(updated.session().await.text(pending, &[]).await, "0");
}

#[tokio::test]
async fn dump_of_a_release_has_the_objects_of_a_new_database_after_its_migration() {
    let restored = Database::restored_from_the_release().await;
    let session = restored.session().await;
    session.run("select keyed.migrate()").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    assert_same(&restored.catalog().await, &new().await.catalog().await);
    assert_same(&results_of(&restored).await, &results());
}

#[tokio::test]
async fn updated_database_works_as_before() {
    let database = Database::of_the_release().await;
    let before = results();
    // The library of this version works with the SQL of the release.
    assert_same(&results_of(&database).await, &before);
    update(&database).await;
    assert_same(&results_of(&database).await, &before);

    let session = database.session().await;
    let upsert = "select created from keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"new horses\"}')";
    assert_eq!(session.text(upsert, &["é:/ 1"]).await, "f");
    assert_eq!(session.text(upsert, &["new:1"]).await, "t");
    let found = "select jsonb_array_length(keyed.search('crm.customers', '{\"global_search\": \"horse\"}') -> 'records')";
    assert_eq!(session.text(found, &[]).await, "4");
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"of\", \"type\": \"reference\", \"template\": \"customers\"}]');
              select keyed.upsert_by_key('crm.orders', 'O-1', '{\"of\": {\"external_key\": \"new:1\"}}');
              select keyed.drop_template('crm.orders', true)")
        .await;
}

#[tokio::test]
async fn interrupted_update_changes_nothing_and_can_be_repeated() {
    let database = Database::of_the_release().await;
    let before = database.catalog().await;
    let (holder, updater) = (database.session().await, database.session().await);
    // Every update replaces this function, and waits for a transaction that has changed it.
    holder.run("begin; alter function keyed.library_version() cost 2").await;
    let process = updater.process().await;
    let interrupted = tokio::spawn(async move { updater.attempt(UPDATE, &[]).await });
    let watcher = database.session().await;
    watcher.until_blocked(1).await;
    assert_eq!(watcher.text("select pg_terminate_backend($1)", &[&process]).await, "t");
    let error = interrupted.await.expect("the session ends").expect_err("it was interrupted");
    assert_eq!(error.state, "57P01");
    holder.run("rollback").await;
    assert_eq!(holder.text(VERSION, &[]).await, RELEASE);
    assert_same(&database.catalog().await, &before);
    update(&database).await;
    assert_same(&database.catalog().await, &new().await.catalog().await);
}

#[tokio::test]
async fn all_releases_can_be_updated() {
    let lists = std::fs::read_dir(repository_folder().join("sql/released")).expect("the list of releases");
    let names = lists.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let releases: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".sha256").map(str::to_owned)).collect();
    assert!(releases.iter().any(|release| release == RELEASE), "{releases:?}");
    for release in releases {
        let database = Database::empty_in(&Cluster::shared()).await;
        let session = database.session().await;
        // Looks up every symbol that a function names.
        session.run(&format!("create extension keyed version '{release}' cascade")).await;
        session.run(UPDATE).await;
        session.run("select keyed.init()").await;
        let fresh = Database::new().await;
        assert_same(&database.catalog().await, &fresh.catalog().await);
    }
}
