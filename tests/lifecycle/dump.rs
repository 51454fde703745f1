//! pg_dump and pg_restore preserve everything.

use crate::crash::invariants::findings;
use harness::everything::assert_works_on;
use harness::{Cluster, Database, Durability, output};
use std::sync::Arc;

/// The schema of the database as SQL, without lines that differ between runs.
pub(crate) fn definitions(database: &Database) -> String {
    let dump = String::from_utf8(database.dump(&["--schema-only"])).expect("a text");
    dump.lines()
        .filter(|line| !line.starts_with("\\") && !line.starts_with("--"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A database with objects of every kind, and its restored copy in a cluster of its own.
async fn restored() -> (Database, Database) {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let (clerk, partner) = (source.create_role("clerk").await, source.create_role("partner").await);
    source.add_everything(&clerk, &partner).await;

    let copy = source.copied_to(&Arc::new(Cluster::start(Durability::None))).await;
    (source, copy)
}

#[tokio::test]
async fn restored_database_is_equal_and_works() {
    let (source, copy) = restored().await;
    assert_eq!(definitions(&copy), definitions(&source));
    assert_eq!(copy.contents().await, source.contents().await);
    assert_eq!(copy.checksums().await, source.checksums().await);
    assert_eq!(copy.results(&[]).await, source.results(&[]).await);
    assert_works_on(copy).await;
}

#[tokio::test]
async fn restored_database_keeps_the_formats_of_attributes() {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let set = r#"select keyed.alter_attribute('crm.customers', 'visits', '{"format": {"unit": "calls"}}')"#;
    source.session().await.run(set).await;
    let copy = source.copied_to(&Arc::new(Cluster::start(Durability::None))).await;
    let shown = "select keyed.alter_template('crm.customers', '{}') -> 'attributes'";
    let attributes = copy.session().await.json(shown, &[]).await;
    assert_eq!(attributes[1]["format"], serde_json::json!({"unit": "calls"}), "{attributes}");
}

#[tokio::test]
async fn restored_database_keeps_every_scope() {
    let (source, copy) = restored().await;
    for name in ["partner", "clerk"] {
        let role = format!("{name}_{}", source.name());
        let before = source.privileges(&role).await;
        assert_eq!(copy.privileges(&role).await, before, "{name}");
        if name == "partner" {
            assert_eq!(
                (before[0].split(':').count(), before[1].as_str(), before[2].as_str()),
                (15, "C-1 C-2 C-3", "14")
            );
        }
    }
    // The grants also follow later changes.
    let (session, role) = (copy.session().await, format!("partner_{}", source.name()));
    session.run("select keyed.alter_attribute('crm.companies', 'name', '{\"slug\": \"title\"}')").await;
    assert_eq!(copy.session_as(&role).await.text("select count(*) from crm.customers", &[]).await, "14");
    let golden = "select count(*) from crm.customers__golden";
    assert_eq!(copy.session_as(&role).await.text(golden, &[]).await, "14");
    session.run("select keyed.drop_attribute('crm.customers', 'seen')").await;
    assert_eq!(copy.session_as(&role).await.text(golden, &[]).await, "14");
    session.run(&format!("select keyed.revoke_access('{role}', 'crm.customers')")).await;
    assert_eq!(copy.session_as(&role).await.text("select count(*) from crm.customers", &[]).await, "0");
    session.run(&format!("select keyed.revoke_access('{role}', 'crm')")).await;
    let error = copy.session_as(&role).await.error("select from crm.customers", &[]).await;
    assert_eq!(error.state, "42501");
    assert_eq!(copy.session_as(&role).await.error(golden, &[]).await.state, "42501");
}

#[tokio::test]
async fn restored_database_accepts_new_projects() {
    let (_source, copy) = restored().await;
    copy.session()
        .await
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')")
        .await;
}

#[tokio::test]
async fn remedies_complete_a_restored_database() {
    let (_source, copy) = restored().await;
    let boss = copy.create_role("boss").await;
    let session = copy.session().await;
    session.run(&format!("grant keyed_admin to {boss}")).await;
    let (boss, create) = (copy.session_as(&boss).await, "select keyed.create_project('shop')");
    // CREATE is a privilege on the database, which this pg_restore did not create.
    let error = boss.error(create, &[]).await;
    assert_eq!(error.state, "42501");
    let lacks = |found: &[String]| found.iter().any(|it| it.contains("keyed_owner may not make schemas"));
    assert!(lacks(&findings(&copy)));
    session.run("select keyed.init()").await;
    assert!(!lacks(&findings(&copy)));
    boss.run(create).await;
}

#[tokio::test]
async fn database_that_pg_restore_creates_has_its_settings_and_privileges() {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let name = source.name();
    let settings = format!(
        "alter database {name} set keyed.max_operations_per_batch = 7; revoke connect on database {name} from public;
         grant connect on database {name} to keyed_proxy"
    );
    source.session().await.run(&settings).await;
    let before = source.checksums().await;
    let target = Cluster::start(Durability::None);
    source.cluster().copy_roles_to(&target);
    let archive = source.dump(&["--format=custom"]);
    let mut restore = target.program("pg_restore");
    output(restore.args(["--exit-on-error", "--create", "--dbname=postgres"]), &archive);
    let copy = source.in_cluster(target);
    let session = copy.session().await;
    assert_eq!(session.text("show keyed.max_operations_per_batch", &[]).await, "7");
    assert_eq!(copy.checksums().await, before);
    let unprivileged = "create role stranger login; select has_database_privilege('stranger', current_database(), 'connect')";
    assert_eq!(session.text(unprivileged, &[]).await, "f");
    assert_eq!(findings(&copy), findings(&source));
}
