//! The extension is code: dropping it does not drop data.

use harness::Database;
use harness::customers::HISTORY;

const CONTENTS: &str =
    "select md5(string_agg(c::text, ',' order by c.id)) || ' ' || count(*) from crm.customers c";

async fn with_records() -> Database {
    let database = Database::with_crm().await;
    let fill = "select keyed.upsert_by_key('crm.customers', 'k' || n, '{\"name\": \"x\", \"mood\": 1}') from generate_series(1, 20) n";
    database.session().await.run(fill).await;
    database
}

#[tokio::test]
async fn extension_with_templates_cannot_be_dropped() {
    let database = with_records().await;
    let session = database.session().await;
    let before = session.text(CONTENTS, &[]).await;
    for statement in [
        "drop extension keyed",
        "drop extension keyed restrict",
        "drop schema keyed",
        "drop function keyed.new_id",
    ] {
        assert_eq!(session.error(statement, &[]).await.state, "2BP01", "{statement}");
    }
    assert_eq!(session.text(CONTENTS, &[]).await, before);
    session.run("select keyed.upsert_by_key('crm.customers', 'new')").await;
}

#[tokio::test]
async fn drop_extension_cascade_keeps_rows() {
    let database = with_records().await;
    let session = database.session().await;
    let before = session.text(CONTENTS, &[]).await;
    let history = session.text(&format!("select count(*) from {HISTORY}"), &[]).await;
    session.run("drop extension keyed cascade").await;
    assert_eq!(session.text(CONTENTS, &[]).await, before);
    assert_eq!(session.text(&format!("select count(*) from {HISTORY}"), &[]).await, history);
    assert_eq!(session.text("select count(*) from keyed_state.template", &[]).await, "2");
}

#[tokio::test]
async fn database_owner_cannot_install_the_extension() {
    let database = Database::with_crm().await;
    let role = database.create_role("owner").await;
    let empty = Database::empty_in(database.cluster()).await;
    let session = empty.session().await;
    session.run(&format!("alter database {} owner to {role}", empty.name())).await;
    let error = empty.session_as(&role).await.error("create extension keyed cascade", &[]).await;
    assert_eq!(error.state, "42501");
    session.run(&format!("alter database {} owner to postgres", empty.name())).await;
}

#[tokio::test]
async fn other_encodings_than_utf8_are_rejected_with_a_hint() {
    let options = "template template0 encoding 'LATIN1' locale 'C'";
    let database = Database::empty_with(&harness::Cluster::shared(), options).await;
    let error = database.session().await.error("create extension keyed cascade", &[]).await;
    assert_eq!(error.message, "keyed needs a database with encoding UTF8");
    assert!(error.hint.contains("ENCODING 'UTF8' TEMPLATE template0"), "{}", error.hint);
}

#[tokio::test]
async fn functions_before_init_give_a_hint() {
    let database = Database::empty_in(&harness::Cluster::shared()).await;
    let session = database.session().await;
    session.run("create extension keyed cascade; create table plain (id int)").await;
    let error = session.error("select keyed.create_record('plain')", &[]).await;
    assert!(
        error.hint.contains("keyed.init()") || error.message.contains("not a template"),
        "{error} {}",
        error.hint
    );
    // The first project sets the database up automatically.
    session.run("select keyed.create_project('crm'); select keyed.create_template('crm', 'customers')").await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K')").await;
}
