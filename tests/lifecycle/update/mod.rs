//! Updates from the last release to this version, and combinations of versions of library, extension and proxy.

mod collation;
mod format;
mod library;
mod load;
mod objects;
mod policies;
mod proxy;
mod script;

use harness::release::{CLERK, PARTNER, RELEASE, dump_of_the_release, results_of_the_release};
use harness::{Cluster, Database, Durability};
use std::sync::Arc;

/// A new database of this version with the contents of the release's database, in a cluster of its own.
async fn new() -> Database {
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    database.session().await.run(&format!("create role {CLERK} login; create role {PARTNER} login")).await;
    database.add_everything(CLERK, PARTNER).await;
    database
}

const UPDATE: &str = "alter extension keyed update";

async fn update(database: &Database) {
    let session = database.session().await;
    session.run(UPDATE).await;
    session.run("select keyed.migrate()").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
}

/// The stored results of the release, in comparable form.
fn results() -> Vec<String> {
    let list = std::fs::read_to_string(results_of_the_release()).expect("the results of the release");
    comparable(serde_json::from_str(&list).expect("a list of texts"))
}

/// The current results of a database, in comparable form.
async fn results_of(database: &Database) -> Vec<String> {
    comparable(database.results(&[CLERK, PARTNER]).await)
}

/// Results without the changes since the release:
///
/// - cursors of full-text searches: the order of the records has changed, so cursors differ and earlier ones are rejected
/// - policies of tables that the release did not have
fn comparable(results: Vec<String>) -> Vec<String> {
    let without_cursor = |result: String| {
        let before = result.split_once("\"next_cursor\": \"").filter(|_| result.contains("global_search"));
        before.map(|(before, _)| before.to_owned()).unwrap_or(result)
    };
    let is_new = |line: &&str| {
        ["keyed_admin change_", "keyed_admin webhook_", "keyed_admin shard"]
            .iter()
            .any(|it| line.starts_with(it))
    };
    let without_policies = |result: String| {
        let is_list = result.contains("from pg_policies");
        if !is_list {
            return result;
        }
        result.lines().filter(|line| !is_new(line)).collect::<Vec<_>>().join("\n")
    };
    results.into_iter().map(without_cursor).map(without_policies).collect()
}

/// Run once for each release, while the workspace still has its version: see docs/contributing/release.md.
#[tokio::test]
#[ignore = "writes the files of a release"]
async fn release_database_is_written() {
    let database = new().await;
    let version = database.session().await.text("select keyed.library_version()", &[]).await;
    assert_eq!(version, RELEASE, "RELEASE is the version of this build");
    let results = database.results(&[CLERK, PARTNER]).await;
    let list = serde_json::to_string_pretty(&results).expect("texts are JSON");
    std::fs::write(results_of_the_release(), list + "\n").expect("the repository can be written");
    let dump = String::from_utf8(database.dump(&[])).expect("UTF-8");
    // These two lines have a random word, which older programs do not accept.
    let lines =
        dump.lines().filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"));
    let script: String = lines.flat_map(|line| [line, "\n"]).collect();
    std::fs::write(dump_of_the_release(), script).expect("the repository can be written");
}
