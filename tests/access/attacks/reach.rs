//! Objects that logins cannot access: definitions, state, internal functions, files.

use crate::sales::{Sales, seen};
use harness::customers::{HISTORY, SERIES};

#[tokio::test]
async fn definitions_and_state_are_denied() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let before = sales.state().await;
    for attack in [
        "alter table crm.customers disable row level security",
        "alter table crm.customers disable trigger all",
        "alter table crm.customers owner to current_user",
        "alter table crm.customers add column x int",
        "create policy mine on crm.customers using (true)",
        "drop policy keyed_admin on crm.customers",
        "create trigger mine before insert on crm.customers for each row execute function keyed.guard_record()",
        "create rule mine as on select to crm.customers do instead select 1",
        "create index on crm.customers (name)",
        "create unique index on crm.customers (name)",
        "create statistics s on name, region from crm.customers",
        "create table crm.mine (like crm.customers)",
        "create table mine () inherits (crm.customers)",
        "create temp table mine () inherits (crm.customers)",
        "create temp table mine (c uuid references crm.customers)",
        "create view crm.mine as select 1",
        "create function crm.mine() returns int language sql as 'select 1'",
        "create function keyed.mine() returns int language sql as 'select 1'",
        "create function keyed_scope.mine() returns int language sql as 'select 1'",
        "create or replace function keyed.is_being_deleted(id uuid) returns boolean language sql as 'select true'",
        "drop function keyed.is_being_deleted(uuid)",
        "alter function keyed.search(regclass, jsonb) owner to current_user",
        "truncate crm.customers",
        "copy crm.customers from program 'echo'",
        "copy crm.customers to '/tmp/customers'",
        "copy crm.customers to program 'cat'",
        "cluster crm.customers",
        "reindex table crm.customers",
        "refresh materialized view crm.customers",
        "comment on table crm.customers is 'mine'",
        "security label on table crm.customers is 'mine'",
        "create publication p for table crm.customers",
        "alter system set session_preload_libraries = ''",
        "load '/tmp/evil.so'",
        "create extension file_fdw",
        "drop extension keyed cascade",
        "select * from keyed_state.access_grant",
        &format!("select * from {HISTORY}"),
        &format!("select * from {SERIES}"),
        "select * from keyed_state.template",
        "insert into keyed_state.access_grant default values",
        "update keyed_state.access_grant set scope = null",
        "select keyed.init()",
        "select pg_read_file('postgresql.conf')",
        "select lo_import('/etc/passwd')",
        "select pg_catalog.pg_reload_conf()",
        "select * from pg_catalog.pg_authid",
        "select * from pg_catalog.pg_statistic",
    ] {
        // REINDEX is rejected as for any other role than the owner; for a missing object, the error is that it does not
        // exist.
        let error = session.error(attack, &[]).await;
        let states = ["42501", "42809", "42P01", "0A000", "42704", "58P01", "22023", "42P16"];
        assert!(states.contains(&error.state.as_str()), "{attack}: {error}");
    }
    assert_eq!(sales.state().await, before);
    assert_eq!(seen(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn internal_functions_have_no_effect_for_logins() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let (hidden, live) = (sales.id("US-1").await, sales.id("EU-1").await);
    let before = sales.state().await;
    for trigger in
        ["guard_record", "guard_delete", "guard_truncate", "note_history", "write_history", "announce_change"]
    {
        session.error(&format!("select keyed.{trigger}()"), &[]).await;
    }
    for id in [&hidden, &live] {
        assert_eq!(session.text("select keyed.is_being_deleted($1)", &[id]).await, "f");
    }
    let scopes = sales.admin.rows("select format('select %s()', p.oid::regproc) from pg_proc p where p.pronamespace = 'keyed_scope'::regnamespace", &[]).await;
    for row in scopes {
        let call = row[0].clone().unwrap_or_default();
        assert_eq!(session.error(&call, &[]).await.state, "42501", "{call}");
    }
    // Without a key, the functions behind the routes have the privileges of the login.
    for (statement, is_rejected) in [
        ("select keyed_http.get_record($1, null, true, true)", true),
        ("select keyed_http.search('2', '{\"global_search\": \"US\"}')", false),
        ("select keyed_http.list_templates()", false),
        ("select keyed_http.history($1, 10, null)", true),
        ("select keyed_http.metric_series($1, 'mood', null, null, null, null, 10, null)", true),
        ("select keyed_http.drop_template('2')", true),
        ("select keyed_http.alter_template('2', '{\"drop\": [\"name\"]}')", true),
        ("select keyed_http.create_template('{\"slug\": \"mine\"}')", true),
    ] {
        match session.attempt(statement, &[&hidden]).await {
            Ok(rows) => assert!(!is_rejected && !format!("{rows:?}").contains("US"), "{statement}: {rows:?}"),
            Err(error) => {
                assert!(is_rejected && !format!("{error:?}").contains("Globex"), "{statement}: {error}");
            }
        }
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn row_level_security_cannot_be_disabled() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    session.run("set row_security = off").await;
    for statement in
        ["select * from crm.customers", "update crm.customers set name = 'x'", "copy crm.customers to stdout"]
    {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.state, "42501", "{statement}: {error}");
    }
    // The functions themselves apply the same filter.
    assert_eq!(crate::sales::found(&session, serde_json::json!({})).await, "EU-1 EU-2");
    let reference = "select keyed.create_record('crm.customers', '{\"region\": \"EU\", \"company\": {\"external_key\": \"C-EU\"}}', 'off')";
    session.rows(reference, &[]).await;
    session.run("set row_security = on").await;
    assert_eq!(seen(&session).await, "EU-1 EU-2 off");
}

#[tokio::test]
async fn copy_reads_the_scope_and_cannot_write_outside() {
    let sales = Sales::new().await;
    let session = sales.european("read, create").await;
    let login = session.text("select current_user", &[]).await;
    let client = sales.database.client_as(&login).await;
    for source in ["crm.customers", "(select * from crm.customers)", "(table crm.customers)"] {
        let stream = client.copy_out(&format!("copy {source} to stdout")).await.expect("its own rows");
        let chunks: Vec<_> = futures_util::StreamExt::collect(stream).await;
        let text: String = chunks
            .into_iter()
            .map(|chunk| String::from_utf8_lossy(&chunk.expect("a row")).into_owned())
            .collect();
        assert!(text.contains("EU-1") && !text.contains("US-") && !text.contains("EU-0"), "{source}: {text}");
    }
    let error = session.error("copy crm.customers (external_key, region) from stdin", &[]).await;
    assert_eq!(error.state, "0A000", "PostgreSQL takes no COPY FROM under policies: {error}");
}
