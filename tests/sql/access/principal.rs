//! The principal of a transaction: only `keyed.authenticate` sets it, from an API key.

use harness::customers::HISTORY;
use harness::{Database, Session, quote};

/// A database with the customer `A-1`, a key of a clerk who may read customers, and a session of the proxy's login.
async fn with_key() -> (Database, Session, String, String) {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let superuser = database.session().await;
    database.grant(&role, "crm.customers", "read, create, update").await;
    superuser.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\"}')").await;
    let key = database.api_key(&role, &["crm"]).await;
    let session = database.session_as("keyed_proxy").await;
    (database, session, key, role)
}

/// The call that the proxy makes, and a call that the key's role may make.
fn authenticate(key: &str) -> String {
    format!("keyed.authenticate(sha256({}::bytea), 'crm')", quote(key))
}

const LOOKUP: &str = "select keyed_http.get_by_key('customers', 'A-1', null, false)";

#[tokio::test]
async fn proxy_login_has_no_privileges_without_a_key() {
    let (_database, session, ..) = with_key().await;
    for statement in [
        "select from crm.customers",
        "insert into crm.customers (name) values ('x')",
        "select keyed.get_by_key('crm.customers', 'A-1')",
        "select keyed.create_record('crm.customers')",
        "select keyed.upsert_by_key('crm.customers', 'A-1')",
        "select keyed.create_project('shop')",
        "select keyed.create_template('crm', 'orders')",
        "select keyed.issue_api_key('keyed_admin')",
        "select keyed.revoke_api_key(1)",
        "select keyed.init()",
        "select keyed.migrate()",
        "select from keyed_state.api_key",
        "select from keyed_state.project",
        &format!("select from {HISTORY}"),
        "create table crm.x ()",
        "create table public.x ()",
        "create schema x",
        "create role x",
        "set role keyed_admin",
        "set role keyed_owner",
        "alter role keyed_proxy superuser",
        "copy (select 1) to program 'true'",
    ] {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
    // Without a key there is no project, so a slug cannot be resolved.
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("3F000", "project_required"));
    let by_number = "select keyed_http.get_by_key('2', 'A-1', null, false)";
    assert_eq!(session.error(by_number, &[]).await.codes(), ("42501", "forbidden"));
    assert_eq!(
        session.json("select keyed_http.list_templates()", &[]).await["templates"],
        serde_json::json!([])
    );
}

#[tokio::test]
async fn key_acts_as_its_role_within_its_projects() {
    let (database, session, key, _) = with_key().await;
    database
        .session()
        .await
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')")
        .await;
    let call = |project: &str, body: &str| {
        format!("select {body} from keyed.authenticate(sha256({}::bytea), {project})", quote(&key))
    };
    let lookup = "keyed_http.get_by_key('customers', 'A-1', null, false)";
    for project in ["'crm'", "'1'", "null"] {
        let body = format!("({lookup})[2]");
        assert_eq!(session.json(&call(project, &body), &[]).await["external_key"], "A-1", "{project}");
    }
    for project in ["'shop'", "'2'", "'nothing'", "''", "'CRM'"] {
        assert_eq!(
            session.error(&call(project, lookup), &[]).await.codes(),
            ("P0002", "not_found"),
            "{project}"
        );
    }
    let other = session.error(&call("'crm'", "keyed_http.delete_by_key('customers', 'A-1')"), &[]).await;
    assert_eq!(other.codes(), ("42501", "forbidden"));
    // A template without privileges is indistinguishable from a missing one.
    let hidden = session.error(&call("'crm'", "keyed_http.create_record('companies', '{}')"), &[]).await;
    assert_eq!(hidden.codes(), ("P0002", "not_found"));
    let other = session.error(&call("null", "keyed_http.get_template('3')"), &[]).await;
    assert_eq!(other.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn history_names_the_key_and_the_source() {
    let (database, session, key, _) = with_key().await;
    let upsert = r#"keyed_http.upsert_by_key('customers', '{"external_key": "A-2"}', null, false)"#;
    for source in ["api", "app", "csv", "inbound"] {
        let patch = r#"keyed_http.upsert_by_key('customers', '{"external_key": "A-1", "attributes": {"visits": {"$inc": 1}}}', null, false)"#;
        session
            .rows(
                &format!("select {patch} from keyed.authenticate(sha256($1::bytea), 'crm', $2)"),
                &[&key, source],
            )
            .await;
    }
    session.rows(&format!("select {upsert} from {}", authenticate(&key)), &[]).await;
    let story = "select string_agg(h.actor || ' ' || h.source, ', ' order by c.external_key, h.version)
                 from crm.customers c, keyed.history(c.id) h where h.actor <> 'postgres'";
    let actor = "issued by a test (key 1)";
    let expected =
        ["api", "app", "csv", "inbound", "api"].map(|source| format!("{actor} {source}")).join(", ");
    assert_eq!(database.session().await.text(story, &[]).await, expected);
    let error = session.error("select keyed.authenticate(sha256($1::bytea), 'crm', 'sql')", &[&key]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/source"]));
}

#[tokio::test]
async fn principal_ends_with_its_transaction_or_savepoint() {
    let (_database, session, key, _) = with_key().await;
    let authenticate = authenticate(&key);
    for end in ["commit", "rollback", "prepare transaction 'x'"] {
        session.run(&format!("begin; select {authenticate}; {LOOKUP}")).await;
        // max_prepared_transactions is 0, so this ends the transaction as well.
        let _ = session.attempt(end, &[]).await;
        assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("3F000", "project_required"), "{end}");
    }
    session.run(&format!("begin; savepoint one; select {authenticate}; {LOOKUP}; rollback to one")).await;
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("3F000", "project_required"));
    session.run("rollback").await;
    session.rows(&format!("select {authenticate}"), &[]).await;
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("3F000", "project_required"));
}

#[tokio::test]
async fn second_key_in_a_transaction_replaces_the_first() {
    let (database, session, key, _) = with_key().await;
    let powerless = database.create_role("powerless").await;
    let second = database.api_key(&powerless, &["crm"]).await;
    session
        .run(&format!("begin; select {}; {LOOKUP}; select {}", authenticate(&key), authenticate(&second)))
        .await;
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn failed_authentication_leaves_no_principal() {
    let (_database, session, key, _) = with_key().await;
    session.run(&format!("begin; select {}; savepoint one", authenticate(&key))).await;
    let error = session.error(&format!("select {}", authenticate("keyed_1_wrong")), &[]).await;
    assert_eq!(error.codes(), ("28000", "unauthorized"));
    session.run("rollback").await;
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("3F000", "project_required"));
}

/// Attempts of an SQL user to write the setting that carries the principal; `$1` is a principal.
const FORGERIES: [&str; 12] = [
    "set keyed.principal = $1",
    "set local keyed.principal = $1",
    "set session keyed.principal = $1",
    "begin; set local keyed.principal = $1",
    "select set_config('keyed.principal', $1, false)",
    "select set_config('keyed.principal', $1, true)",
    "select set_config('KEYED.Principal', $1, false)",
    "update pg_settings set setting = $1 where name = 'keyed.principal'",
    "alter role current_user set keyed.principal = $1",
    "create function pg_temp.forge() returns int language sql set keyed.principal = $1 as 'select 1'",
    "reset keyed.principal",
    "reset all",
];

#[tokio::test]
async fn principal_cannot_be_forged() {
    let (database, _, _, role) = with_key().await;
    let superuser = database.session().await;
    let admin = superuser.text("select oid::int from pg_roles where rolname = 'keyed_admin'", &[]).await;
    let forged = format!("1 {admin} - * api forged");
    for loaded in [true, false] {
        for forgery in FORGERIES {
            let session = database.session_as(&role).await;
            if loaded {
                session.run("select keyed.normalize_key('load the library')").await;
            }
            // The statement may fail or have no effect, but it never sets a principal.
            let _ = session.attempt(forgery, &[&forged]).await;
            let _ = session.attempt("select pg_temp.forge()", &[]).await;
            let project = session.attempt("select keyed.create_project('forged')", &[]).await;
            let error = project.err().unwrap_or_else(|| panic!("`{forgery}` gave administrator privileges"));
            assert!(["42501", "25P02"].contains(&error.state.as_str()), "{forgery}: {error}");
            let _ = session.attempt("rollback", &[]).await;
            assert_eq!(session.error("select keyed.create_project('forged')", &[]).await.state, "42501");
        }
    }
}

#[tokio::test]
async fn principal_in_the_options_of_a_connection_is_discarded() {
    let (database, _, _, role) = with_key().await;
    let superuser = database.session().await;
    let admin = superuser.text("select oid::int from pg_roles where rolname = 'keyed_admin'", &[]).await;
    let mut psql = database.cluster().program("psql");
    psql.env("PGOPTIONS", format!("-c keyed.principal=1\\ {admin}\\ -\\ *\\ api\\ forged"));
    psql.args(["--no-psqlrc", "--username", &role, "--dbname", database.name(), "--set=ON_ERROR_STOP=1"]);
    psql.args(["--command", "show keyed.principal", "--command", "select keyed.create_project('forged')"]);
    let output = psql.output().expect("psql runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("forged"),
        "the option was not passed on: {said}"
    );
    assert!(!output.status.success() && said.contains("may not create projects"), "{said}");
}

#[tokio::test]
async fn settings_cannot_remove_the_principal() {
    let (_database, session, key, _) = with_key().await;
    for attempt in
        ["reset all", "set keyed.principal = ''", "set local keyed.principal = ''", "reset keyed.principal"]
    {
        session.run(&format!("begin; select {}; {attempt}", authenticate(&key))).await;
        session.rows(LOOKUP, &[]).await;
        session.run("rollback").await;
    }
}

/// Asserts that the key of a role without privileges is active in an open transaction.
async fn assert_second(session: &Session) {
    session.run("savepoint asked").await;
    assert_eq!(session.error(LOOKUP, &[]).await.codes(), ("P0002", "not_found"));
    session.run("rollback to asked; release asked").await;
}

#[tokio::test]
async fn rollback_to_savepoint_restores_the_earlier_key() {
    let (database, session, key, _) = with_key().await;
    let powerless = database.create_role("powerless").await;
    let second = database.api_key(&powerless, &["crm"]).await;
    let (first, second) = (authenticate(&key), authenticate(&second));
    session
        .run(&format!("begin; select {first}; savepoint one; select {second}; savepoint two; release two"))
        .await;
    assert_second(&session).await;
    session.run(&format!("rollback to one; {LOOKUP}; select {second}; release one")).await;
    assert_second(&session).await;
    session.run("rollback").await;
    // A block that fails after its authentication, and one that succeeds.
    session
        .run(&format!(
            "begin; select {first};
             do $$ begin perform {second}; raise 'no'; exception when others then null; end $$; {LOOKUP};
             do $$ begin perform {second}; exception when others then null; end $$"
        ))
        .await;
    assert_second(&session).await;
    session.run("rollback").await;
}
