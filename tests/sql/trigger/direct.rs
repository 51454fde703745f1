//! Direct INSERT and UPDATE: every rule of the functions applies.

use harness::customers::HISTORY;
use harness::{Database, Session, SqlError};
use serde_json::{Value, json};

/// A session of a role with all SQL privileges on customers, and the role's name.
async fn clerk() -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read, create, update, delete").await;
    // More privileges than a grant gives, but still not enough to bypass the rules.
    let grants = format!("grant all on crm.customers, crm.companies to {role}");
    database.session().await.run(&grants).await;
    let session = database.session_as(&role).await;
    (database, session, role)
}

async fn entry(session: &Session) -> Value {
    let latest =
        "select to_jsonb(h) from crm.customers c, keyed.history(c.id) h order by h.version desc limit 1";
    session.json(latest, &[]).await
}

async fn rejected_insert(session: &Session, columns: &str, values: &str) -> SqlError {
    session.error(&format!("insert into crm.customers ({columns}) values ({values})"), &[]).await
}

#[tokio::test]
async fn row_inserted_by_direct_sql_is_a_record() {
    let (_database, session, role) = clerk().await;
    session.run("insert into crm.customers (external_key, name, tags) values (' A-1 ', 'Ada', '{x}')").await;
    let record = session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(
        (&record["attributes"]["name"], &record["attributes"]["tags"]),
        (&json!("Ada"), &json!(["x"]))
    );
    let entry = entry(&session).await;
    for (member, value) in [
        ("version", json!(1)),
        ("actor", json!(role)),
        ("source", json!("sql")),
        ("operation", json!("create")),
        ("external_key", json!("A-1")),
        ("changes", json!({"name": {"old": null, "new": "Ada"}, "tags": {"old": null, "new": ["x"]}})),
    ] {
        assert_eq!(entry[member], value, "{member}");
    }
    let upsert = "select created from keyed.upsert_by_key('crm.customers', 'A-1', '{\"visits\": 1}')";
    assert_eq!(session.text(upsert, &[]).await, "f");
}

#[tokio::test]
async fn direct_update_writes_history_and_updated_at() {
    let (_database, session, role) = clerk().await;
    session.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
    session
        .run("update crm.customers set name = 'Bea', external_key = ' A-2', updated_at = '2000-01-01'")
        .await;
    let entry = entry(&session).await;
    assert_eq!((&entry["operation"], &entry["actor"]), (&json!("update"), &json!(role)));
    let changes = json!({"name": {"old": "Ada", "new": "Bea"}, "external_key": {"old": "A-1", "new": "A-2"}});
    assert_eq!(entry["changes"], changes);
    let times =
        "select updated_at > created_at and updated_at > now() - interval '1 minute' from crm.customers";
    assert_eq!(session.text(times, &[]).await, "t");
}

#[tokio::test]
async fn direct_update_without_a_change_leaves_no_trace() {
    let (_database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key, name, visits) values ('A-1', 'Ada', 1.5)").await;
    let before = session.text("select updated_at from crm.customers", &[]).await;
    session
        .run("update crm.customers set name = 'Ada', visits = 1.5, external_key = 'A-1', updated_at = now()")
        .await;
    assert_eq!(session.text("select updated_at from crm.customers", &[]).await, before);
    assert_eq!(entry(&session).await["version"], 1);
}

#[tokio::test]
async fn deleted_at_deletes_by_direct_sql() {
    let (database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
    session.run("update crm.customers set deleted_at = now() where external_key = 'A-1'").await;
    assert_eq!(entry(&database.session().await).await["operation"], "delete");
    let missing = session.error("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(missing.codes(), ("P0002", "not_found"));
    session.run("insert into crm.customers (external_key) values ('A-1')").await;
    let gone = "select count(*) from crm.customers where name = 'Ada'";
    assert_eq!(session.text(gone, &[]).await, "0", "a granted role sees live records only");
    let superuser = database.session().await;
    let back = superuser.error("update crm.customers set deleted_at = null where name = 'Ada'", &[]).await;
    assert_eq!(back.state, "23505");
    superuser
        .run("update crm.customers set deleted_at = null, external_key = 'A-2' where name = 'Ada'")
        .await;
    let restored = "select operation from crm.customers c, keyed.history(c.id) where name = 'Ada' order by version desc limit 1";
    assert_eq!(session.text(restored, &[]).await, "restore");
}

#[tokio::test]
async fn rows_cannot_be_deleted_despite_grants() {
    let (database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key, name) values ('A-1', 'Ada')").await;
    let delete = session.error("delete from crm.customers", &[]).await;
    assert_eq!(delete.codes(), ("42501", "forbidden"));
    assert!(delete.hint.contains("deleted_at"), "{}", delete.hint);
    let truncate = session.attempt("truncate crm.customers", &[]).await;
    assert_eq!(
        truncate.map_err(|error| error.state),
        Err("42501".to_owned()),
        "TRUNCATE takes all history along"
    );
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "1");
    let superuser = database.session().await;
    superuser.run("delete from crm.customers").await;
    let purged = &format!("select string_agg(operation, ' ' order by version) from {HISTORY}");
    assert_eq!(superuser.text(purged, &[]).await, "create purge");
}

#[tokio::test]
async fn id_and_created_at_cannot_change() {
    let (_database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key) values ('A-1')").await;
    for (assignment, pointer) in
        [("id = keyed.new_id(2)", "/id"), ("created_at = now() - interval '1 day'", "/created_at")]
    {
        let error = session.error(&format!("update crm.customers set {assignment}"), &[]).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec![pointer]));
    }
}

#[tokio::test]
async fn id_of_another_template_is_rejected() {
    let (_database, session, _) = clerk().await;
    for id in ["gen_random_uuid()", "keyed.new_id(1)", "'00000000-0000-0000-0000-000000000000'"] {
        session.run("select keyed.new_id(2)").await;
        let error = rejected_insert(&session, "id", id).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/id"]), "{id}");
    }
    session.run("insert into crm.customers (id) values (keyed.new_id(2))").await;
    assert_eq!(entry(&session).await["version"], 1);
}

#[tokio::test]
async fn invalid_values_are_rejected_by_direct_sql() {
    let (_database, session, _) = clerk().await;
    for (column, value) in [
        ("visits", "'NaN'"),
        ("visits", "'Infinity'"),
        ("visits", "1e5000"),
        ("mood", "'NaN'"),
        ("mood", "'-Infinity'"),
        ("tags", "'{x,null}'"),
        ("tags", "'{{x},{y}}'"),
        ("tier", "'{bronze}'"),
        ("born", "'infinity'"),
        ("born", "'0044-03-15 BC'"),
        ("born", "'10000-01-01'"),
        ("seen", "'-infinity'"),
        ("seen", "'10000-01-01Z'"),
        ("name", "repeat('x', 1048577)"),
        ("tags", "array[repeat('x', 600000), repeat('y', 600000)]"),
    ] {
        let error = rejected_insert(&session, column, value).await;
        let expected = (("22023", "invalid_value"), vec![format!("/attributes/{column}")]);
        assert_eq!(
            (error.codes(), error.pointers().iter().map(|it| (*it).to_owned()).collect()),
            expected,
            "{value}"
        );
    }
    session.run("insert into crm.customers (external_key) values ('A-1')").await;
    assert_eq!(
        session.error("update crm.customers set visits = 'NaN'", &[]).await.codes(),
        ("22023", "invalid_value")
    );
    assert_eq!(
        session.error("update crm.customers set tier = '{x}'", &[]).await.codes(),
        ("22023", "invalid_value")
    );
}

#[tokio::test]
async fn direct_reference_to_a_deleted_record_is_rejected() {
    let (database, session, _) = clerk().await;
    session.run("insert into crm.companies (external_key, name) values ('C-1', 'ACME')").await;
    session.run("update crm.companies set deleted_at = now()").await;
    let company = database.session().await.text("select id from crm.companies", &[]).await;
    let error = session.error("insert into crm.customers (company) values ($1)", &[&company]).await;
    assert_eq!(error.codes(), ("23503", "reference_not_found"));
}

#[tokio::test]
async fn metric_written_by_direct_sql_joins_its_series() {
    let (_database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key, mood) values ('A-1', 1)").await;
    session.run("update crm.customers set mood = 2").await;
    let series = "select string_agg(value::text, ',' order by at) from crm.customers c, keyed.metric_series(c.id, 'mood')";
    assert_eq!(session.text(series, &[]).await, "1,2");
}

#[tokio::test]
async fn each_row_of_a_statement_has_history() {
    let (_database, session, _) = clerk().await;
    session.run("insert into crm.customers (external_key, visits) select 'k' || n, n from generate_series(1, 300) n").await;
    session.run("update crm.customers set visits = visits + 1 where visits > 100").await;
    let story = "select count(*) filter (where h.version = 1), count(*) filter (where h.version = 2)
                 from crm.customers c, keyed.history(c.id) h";
    assert_eq!(session.rows(story, &[]).await, [[Some("300".to_owned()), Some("200".to_owned())]]);
}

#[tokio::test]
async fn copy_follows_the_same_rules() {
    // PostgreSQL supports COPY FROM into a table with row-level security only for roles that bypass it.
    let (database, session, _) = clerk().await;
    let mut copy = database.cluster().program("psql");
    copy.args(["--no-psqlrc", "--username", "postgres", "--dbname", database.name()]);
    copy.args(["--command", r"\copy crm.customers (external_key, name) from pstdin"]);
    copy.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let mut copy = copy.spawn().expect("psql runs");
    let mut input = copy.stdin.take().expect("piped");
    std::io::Write::write_all(&mut input, b"  A-1 \tAda\nA-2\tBea\n").expect("psql reads");
    drop(input);
    assert!(copy.wait().expect("psql ends").success());
    let keys = "select string_agg(external_key || ' ' || h.source, ', ' order by 1)
                from (select c.external_key, h.source from crm.customers c, keyed.history(c.id) h) h";
    assert_eq!(session.text(keys, &[]).await, "A-1 sql, A-2 sql");
}

#[tokio::test]
async fn purged_record_can_be_inserted_again_under_its_id() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let id = session.text("insert into crm.customers (external_key) values ('A-1') returning id", &[]).await;
    session.run("delete from crm.customers").await;
    session.rows("insert into crm.customers (id, external_key) values ($1, 'A-1')", &[&id]).await;
    let story =
        "select string_agg(version || ' ' || operation, ', ' order by version) from keyed.history($1)";
    assert_eq!(session.text(story, &[&id]).await, "1 create, 2 purge, 3 create");
}
