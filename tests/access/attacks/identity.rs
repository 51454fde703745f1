//! Attacks on the identity of a caller.

use crate::sales::{Sales, of_region, seen};
use harness::{Session, quote};
use tokio_postgres::NoTls;

const FORGED: &str = r#"{"key": 1, "role": 10, "project": null}"#;

async fn assert_unchanged(session: &Session, attack: &str) {
    assert_eq!(seen(session).await, "EU-1 EU-2", "after {attack}");
}

#[tokio::test]
async fn setting_that_carries_the_principal_cannot_be_set_directly() {
    let sales = Sales::new().await;
    let session = sales.european("read, create").await;
    let login = session.text("select current_user", &[]).await;
    let forged = quote(FORGED);
    for attack in [
        format!("set keyed.principal = {forged}"),
        format!("begin; set local keyed.principal = {forged}"),
        format!("select set_config('keyed.principal', {forged}, false)"),
        format!("select set_config('keyed.principal', {forged}, true)"),
        format!("alter role {login} set keyed.principal = {forged}"),
        format!(
            "create function pg_temp.f() returns int language sql set keyed.principal = {forged} as 'select 1'; select pg_temp.f()"
        ),
        "update pg_settings set setting = '10' where name = 'keyed.principal'".to_owned(),
        "reset all".to_owned(),
        "discard all".to_owned(),
        "reset keyed.principal".to_owned(),
    ] {
        // Asserts that the statement is rejected or has no effect.
        let _ = session.attempt(&attack, &[]).await;
        let _ = session.attempt("commit", &[]).await;
        assert_unchanged(&session, &attack).await;
        let made = session
            .text("select keyed.create_record('crm.customers', '{\"region\": \"EU\"}') ->> 'id'", &[])
            .await;
        let actor = "select actor from keyed.history($1)";
        assert_eq!(sales.admin.text(actor, &[&made]).await, login, "after {attack}");
    }
}

#[tokio::test]
async fn setting_from_before_the_library_load_is_ignored() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    let login = session.text("select current_user", &[]).await;
    let mut config = sales.database.cluster().config(&login, sales.database.name());
    config.options("-c keyed.principal=10:1:0 -c row_security=on");
    let (client, connection) = config.connect(NoTls).await.expect("a connection");
    tokio::spawn(connection);
    assert_unchanged(&Session::on(client), "PGOPTIONS").await;
    let early = sales.database.session_as(&login).await;
    let _ = early.attempt(&format!("set keyed.principal = {}", quote(FORGED)), &[]).await;
    assert_unchanged(&early, "SET before the library is loaded").await;
    let inside = sales.database.session_as(&login).await;
    let _ = inside.attempt(&format!("begin; set local keyed.principal = {}", quote(FORGED)), &[]).await;
    assert_unchanged(&inside, "SET LOCAL before the library is loaded").await;
}

#[tokio::test]
async fn caller_cannot_assume_another_role() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    let (other, _) = sales.clerk("read", &of_region("US")).await;
    for role in ["keyed_owner", "keyed_admin", "keyed_proxy", "postgres", "pg_read_all_data", &other] {
        for attack in [
            format!("set role {role}"),
            format!("set session authorization {role}"),
            format!("set local role {role}"),
            format!("select set_config('role', '{role}', false)"),
            format!("select set_config('session_authorization', '{role}', false)"),
            format!("grant {role} to current_user"),
            format!(
                "create function pg_temp.g() returns int language sql set role = {role} as 'select 1'; select pg_temp.g()"
            ),
        ] {
            let error = session.error(&attack, &[]).await;
            assert_eq!(error.state, "42501", "{attack}: {error}");
            assert_unchanged(&session, &attack).await;
        }
    }
}

#[tokio::test]
async fn invalid_key_gives_no_access() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    let key = sales.database.api_key("keyed_admin", &[]).await;
    let proxy = sales.database.session_as("keyed_proxy").await;
    for hash in ["''", "'\\x00'", "sha256('')", "sha256('keyed_admin')", "null"] {
        let attack = format!("begin; select keyed.authenticate({hash})");
        assert_eq!(proxy.error(&attack, &[]).await.state, "28000", "{attack}");
        proxy.run("rollback").await;
        let attack = format!("select keyed_http.list_templates() from keyed.authenticate({hash})");
        assert_eq!(proxy.error(&attack, &[]).await.state, "28000", "{attack}");
    }
    // A valid key works only for the login of the proxy.
    let right = quote(&key);
    let attack = format!("begin; select keyed.authenticate(sha256({right}::bytea))");
    assert_eq!(session.error(&attack, &[]).await.state, "42501");
    session.run("rollback").await;
    assert_unchanged(&session, &attack).await;
    assert_eq!(session.error("select hash from keyed_state.api_key", &[]).await.state, "42501");
}

#[tokio::test]
async fn key_gives_privileges_for_one_transaction() {
    let sales = Sales::new().await;
    let (login, session) = sales.clerk("read, create", &of_region("EU")).await;
    // A superuser could allow it.
    sales.admin.run(&format!("grant execute on function keyed.authenticate to {login}")).await;
    let (american, _) = sales.clerk("read, create", &of_region("US")).await;
    let key = sales.database.api_key(&american, &["crm"]).await;
    let found = "select string_agg(r ->> 'external_key', ' ' order by r ->> 'external_key') from keyed.authenticate(sha256(convert_to($1, 'UTF8')), 'crm'),
                 jsonb_array_elements(keyed.search('crm.customers') -> 'records') r";
    assert_eq!(session.text(found, &[&key]).await, "US-1 US-2");
    // Plain SQL uses the role of the session, whatever key was authenticated.
    session.run("begin").await;
    session
        .rows("select keyed.authenticate(sha256(convert_to($1, 'UTF8')), 'crm', 'inbound')", &[&key])
        .await;
    assert_eq!(crate::sales::found(&session, serde_json::json!({})).await, "US-1 US-2");
    assert_eq!(crate::sales::selected(&session).await, "EU-1 EU-2");
    // Its writes have that role as their actor.
    session.run("insert into crm.customers (external_key, region) values ('EU-7', 'EU')").await;
    session.rows("select keyed.create_record('crm.customers', '{\"region\": \"US\"}', 'US-7')", &[]).await;
    session.run("commit").await;
    let author = "select h.actor || ' ' || h.source from crm.customers c, keyed.history(c.id) h where c.external_key = $1";
    let user = session.text("select session_user", &[]).await;
    assert_eq!(sales.admin.text(author, &["EU-7"]).await, format!("{user} sql"));
    assert_eq!(sales.admin.text(author, &["US-7"]).await, "issued by a test (key 1) inbound");
    assert_eq!(seen(&session).await, "EU-1 EU-2 EU-7");
}
