//! pg_dump and pg_restore carry everything over.

use harness::everything::assert_works_on;
use harness::{Cluster, Database, Durability};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What a program prints; a failure panics with what it said.
pub(crate) fn output(command: &mut Command, input: &[u8]) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends early says why on standard error.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub(crate) fn dump(database: &Database, arguments: &[&str]) -> Vec<u8> {
    output(database.cluster().program("pg_dump").args(arguments).args(["--dbname", database.name()]), b"")
}

/// The definition of everything as SQL, without the lines that differ from run to run.
pub(crate) fn definitions(database: &Database) -> String {
    let dump = String::from_utf8(dump(database, &["--schema-only"])).expect("a text");
    dump.lines()
        .filter(|line| !line.starts_with("\\") && !line.starts_with("--"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A database with something of everything, and its restored copy in a cluster of its own.
async fn restored() -> (Database, Database) {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let (clerk, partner) = (source.create_role("clerk").await, source.create_role("partner").await);
    source.add_everything(&clerk, &partner).await;

    let target = Arc::new(Cluster::start(Durability::None));
    let globals = output(source.cluster().program("pg_dumpall").arg("--globals-only"), b"");
    // The superuser exists already, which is no reason to stop.
    output(target.program("psql").args(["--no-psqlrc", "--quiet", "--dbname", "postgres"]), &globals);
    let copy = Database::empty_in(&target).await;
    let archive = dump(&source, &["--format=custom"]);
    output(copy.cluster().program("pg_restore").args(["--exit-on-error", "--dbname", copy.name()]), &archive);
    (source, copy)
}

#[tokio::test]
async fn a_restored_database_is_the_same_and_works_on() {
    let (source, copy) = restored().await;
    assert_eq!(definitions(&copy), definitions(&source));
    assert_eq!(copy.contents().await, source.contents().await);
    assert_eq!(copy.answers(&[]).await, source.answers(&[]).await);
    assert_works_on(copy).await;
}

#[tokio::test]
async fn a_restored_database_keeps_every_scope() {
    let (source, copy) = restored().await;
    for name in ["partner", "clerk"] {
        let role = format!("{name}_{}", source.name());
        let before = source.rights(&role).await;
        assert_eq!(copy.rights(&role).await, before, "{name}");
        if name == "partner" {
            assert_eq!(
                (before[0].split(':').count(), before[1].as_str(), before[2].as_str()),
                (15, "C-1 C-2 C-3", "14")
            );
        }
    }
    // And they go on to follow what changes.
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
    let refusal = copy.session_as(&role).await.refusal("select from crm.customers", &[]).await;
    assert_eq!(refusal.state, "42501");
    assert_eq!(copy.session_as(&role).await.refusal(golden, &[]).await.state, "42501");
}

#[tokio::test]
async fn a_restored_database_takes_new_projects() {
    let (_source, copy) = restored().await;
    copy.session()
        .await
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')")
        .await;
}
