//! A database with objects of every kind returns the same results after the upgrade.

use super::*;
use harness::everything::assert_works_on;
use harness::{Cluster, Durability, upgrade_path};
use std::sync::Arc;

/// More records than a definition processes in its own transaction.
const MANY: usize = 6000;

const JOBS: &str = "select coalesce(string_agg(state || ', ' || records_done, '; '), '') from keyed.jobs()";

/// Settings of the database, and of the clerk in it.
const SETTINGS: &str = "select string_agg(s.setrole::regrole || ' ' || s.setconfig::text, E'\n' order by s.setrole) \
                        from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()";

/// Counted searches for text whose documents a job has not written yet.
const FOUND: &str = "select keyed.search('depot.parts', jsonb_build_object('global_search', $1::text, 'count', 'exact', 'limit', 1)) ->> 'total'";

/// A project whose text depends on dictionaries and case rules.
const DEPOT: &str = r#"
    select keyed.create_project('depot', 'Spare parts'); select keyed.set_time_zone('depot', 'Europe/Berlin');
    select keyed.create_template('depot', 'parts', '[{"slug": "name", "type": "string", "required": true, "indexed": true}]');
    select keyed.alter_template('depot.parts', '{"language": "german"}');
    select keyed.upsert_by_key('depot.parts', name, jsonb_build_object('name', name)) from (values ('Kindern'), ('Große Häuser'), ('ΟΔΟΣ'), ('0 1')) p (name)"#;

const QUESTIONS: [&str; 5] = [
    r#"select keyed.search('crm.customers', '{"filters": [{"field": "mood", "operator": "gt", "value": 10}], "sort": "-mood", "limit": 5}')"#,
    "select keyed.get_by_key('depot.parts', 'Große Häuser')",
    r#"select keyed.search('depot.parts', '{"global_search": "Kindes"}')"#,
    r#"select keyed.search('depot.parts', '{"global_search": "οδος", "count": "exact"}')"#,
    r#"select keyed.search('depot.parts', '{"filters": [{"field": "name", "operator": "ilike", "value": "ΟΔΟΣ"}]}')"#,
];

/// A database with objects of every kind, with a clerk and a partner.
async fn with_everything(cluster: Arc<Cluster>) -> (Database, [String; 2]) {
    let database = Database::new_in(&cluster).await.add_crm().await;
    let roles = [database.create_role("clerk").await, database.create_role("partner").await];
    database.add_everything(&roles[0], &roles[1]).await;
    database.session().await.run(DEPOT).await;
    (database, roles)
}

async fn results(database: &Database, roles: &[String; 2]) -> Vec<String> {
    let mut results = database.results(&[&roles[0], &roles[1]]).await;
    let session = database.session().await;
    session.run("set timezone = 'UTC'").await;
    for question in QUESTIONS {
        results.push(session.text(question, &[]).await);
    }
    results
}

/// The stored contents, without the counts of index scans, which sessions report when they end.
async fn contents(database: &Database) -> Vec<String> {
    let contents = database.contents().await;
    contents
        .lines()
        .filter(|line| !line.starts_with("keyed_state.attribute_use"))
        .map(str::to_owned)
        .collect()
}

/// Fails at the first result that differs, because all of them would be hard to read.
fn assert_same(found: &[String], expected: &[String]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

/// Applies the remedies of doctor, and asserts that the remaining findings are those from before the upgrade.
async fn follow_doctor(database: &Database, before: &[[String; 3]], expected: &[&str]) {
    let new: Vec<_> = findings(database).into_iter().filter(|finding| !before.contains(finding)).collect();
    let mut checks: Vec<&str> = new.iter().map(|[check, ..]| check.as_str()).collect();
    checks.dedup();
    assert_eq!(checks, expected, "{new:#?}");
    for [_, _, remedy] in &new {
        database.run_in_psql(remedy);
    }
    // Documents of many records are written in the background.
    database.session().await.until(JOBS, "").await;
    assert_eq!(findings(database), before);
}

/// Assertions that can be repeated at every version on the path.
async fn assert_writes(database: &Database) {
    let session = database.session().await;
    let before = session.text("select count(*) from crm.companies", &[]).await;
    let upsert = "select created from keyed.upsert_by_key('crm.companies', $1, '{\"name\": \"ACME\"}')";
    assert_eq!(session.text(upsert, &["C-1"]).await, "f");
    assert_eq!(session.text("select count(*) from crm.companies", &[]).await, before);
    // Quotas continue from their earlier counts.
    let used = "select used from keyed.quota_usage('crm') where name = 'live_records'";
    let used = session.text(used, &[]).await;
    session.run(&format!("select keyed.set_quota('crm', 'live_records', {used})")).await;
    assert_eq!(session.error(upsert, &["C-new"]).await.codes().1, "quota_exceeded");
    session.run("select keyed.set_quota('crm', 'live_records', 1000)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upgraded_database_works_as_before() {
    let path = upgrade_path();
    // Without workers, a job waits.
    let cluster = Arc::new(Cluster::start_version(&path[0], Durability::None, &["max_worker_processes=0"]));
    let (mut database, roles) = with_everything(cluster).await;
    let session = database.session().await;
    session
        .run(&format!(
            "select keyed.upsert_by_key('depot.parts', 'n' || n, '{{\"name\": \"Kindern running\"}}') from generate_series(1, {MANY}) n;
             select keyed.alter_template('depot.parts', '{{\"language\": \"english\"}}');
             alter database {} set keyed.session_memory = '48MB';
             alter role {} in database {0} set keyed.max_text_size = '2MB'",
            database.name(),
            roles[0],
        ))
        .await;
    assert_eq!(session.text(JOBS, &[]).await, "pending, 0");
    let page = "select keyed.search('crm.customers', jsonb_build_object('sort', '-visits,name', 'limit', 7, 'cursor', $1::text))";
    let first = session
        .json("select keyed.search('crm.customers', '{\"sort\": \"-visits,name\", \"limit\": 7}')", &[])
        .await;
    let cursor = first["next_cursor"].as_str().expect("there are more").to_owned();
    let settings = session.text(SETTINGS, &[]).await;
    assert!(settings.contains("48MB") && settings.contains("2MB"), "{settings}");
    drop(session);

    for programs in &path[1..] {
        let (results_before, contents_before) = (results(&database, &roles).await, contents(&database).await);
        let checksums_before = database.checksums().await;
        let next_page = database.session().await.text(page, &[&cursor]).await;
        let (found, version_before) = (findings(&database), version(&database).await);
        let upgraded = tokio::task::block_in_place(|| database.cluster().upgraded_to(programs));
        let upgraded = database.in_cluster(upgraded);
        assert!(version(&upgraded).await > version_before);
        assert_same(&contents(&upgraded).await, &contents_before);
        assert_eq!(upgraded.checksums().await, checksums_before);
        assert_same(&results(&upgraded, &roles).await, &results_before);
        upgraded.assert_valid_indexes().await;
        let session = upgraded.session().await;
        assert_eq!(session.text(page, &[&cursor]).await, next_page);
        assert_eq!(session.text(SETTINGS, &[]).await, settings);
        assert_eq!(session.text("show keyed.session_memory", &[]).await, "48MB");

        // A proxy resumes the job.
        session.rows("select keyed.run_jobs()", &[]).await;
        session.until(JOBS, "").await;
        assert_eq!(session.text(FOUND, &["runs"]).await, MANY.to_string());
        upgraded.cluster().sql(upgraded.name(), "analyze");
        follow_doctor(&upgraded, &found, &["stems", "renamed roles"]).await;
        assert_writes(&upgraded).await;
        database = upgraded;
    }
    database.session().await.run("select keyed.migrate()").await;
    let service = assert_works_on(database).await;
    service.database.cluster().assert_no_crash();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dump_of_the_oldest_version_restores_on_the_newest() {
    let path = upgrade_path();
    let cluster = Arc::new(Cluster::start(Durability::None));
    let (source, roles) = with_everything(cluster).await;
    let newest = path.last().expect("several versions");
    let target = Arc::new(Cluster::start_version(newest, Durability::None, &[]));
    let copy = source.copied_to(&target).await;

    assert_same(&contents(&copy).await, &contents(&source).await);
    assert_eq!(copy.checksums().await, source.checksums().await);
    assert_same(&results(&copy, &roles).await, &results(&source, &roles).await);
    copy.assert_valid_indexes().await;
    follow_doctor(&copy, &findings(&source), &["roles", "stems", "renamed roles"]).await;
    assert_works_on(copy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renamed_role_keeps_its_privileges_if_migrate_runs_before_pg_upgrade() {
    let path = upgrade_path();
    let cluster = Arc::new(Cluster::start_version(&path[0], Durability::None, &[]));
    let (database, [clerk, partner]) = with_everything(cluster).await;
    database.session().await.run(&format!("alter role {clerk} rename to editor")).await;
    let found = findings(&database);
    let renamed: Vec<_> = found.iter().filter(|[check, ..]| check == "renamed roles").collect();
    assert!(renamed.len() == 1 && renamed[0][1].contains("pg_upgrade"), "{found:#?}");
    database.run_in_psql(&renamed[0][2]);
    let roles = ["editor".to_owned(), partner];
    let before = results(&database, &roles).await;
    let upgraded = tokio::task::block_in_place(|| database.cluster().upgraded_to(&path[path.len() - 1]));
    let upgraded = database.in_cluster(upgraded);
    assert_same(&results(&upgraded, &roles).await, &before);
    // The same holds again after this cluster has stored the OIDs of its roles.
    let privileges = upgraded.privileges("editor").await;
    upgraded.session().await.run("select keyed.migrate(); alter role editor rename to author").await;
    assert_eq!(upgraded.privileges("author").await, privileges);
}
