//! A library that is newer or older than the SQL of the extension.

use harness::{Database, Session, SqlError, until};

/// Sets the version that the database has for the extension, as an update does.
async fn set_version(session: &Session, version: &str) {
    let set = "begin; update pg_extension set extversion = $1 where extname = 'keyed';
        create or replace function keyed.library_version() returns text language c volatile parallel safe as '$libdir/keyed', 'keyed_library_version';
        commit";
    session.rows(set, &[version]).await;
}

const INSTALLED: &str = "select default_version from pg_available_extensions where name = 'keyed'";

#[tokio::test]
async fn newer_library_works_and_warns_once() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')").await;
    let installed = session.text(INSTALLED, &[]).await;
    set_version(&session, "0.0.9").await;
    let mut psql = database.cluster().program("psql");
    psql.args(["--no-psqlrc", "--dbname", database.name()]);
    psql.args(["--command", "select count(keyed.get_record(id)) from crm.customers"]);
    psql.args(["--command", "select count(keyed.record_version(id)) from crm.customers"]);
    let output = psql.output().expect("psql runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("WARNING:  the library of keyed is").count(), 1, "{said}");
    assert!(said.contains("HINT:  As a superuser, run ALTER EXTENSION keyed UPDATE"), "{said}");

    for statement in ["select keyed.migrate()", "select keyed.init()"] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.state, "55000", "{statement}");
        assert!(error.hint.contains("ALTER EXTENSION keyed UPDATE"), "{statement}: {}", error.hint);
    }
    set_version(&session, &installed).await;
    session.run("select keyed.migrate()").await;
}

/// A call of every SQL function that the library implements.
async fn calls(session: &Session) -> Vec<String> {
    let value = "case format_type(t, null) when 'regclass' then '''crm.customers''::regclass' when 'oid' then '1::oid'
        when 'uuid' then '''00000000-0000-0000-0000-000000000000''::uuid' when 'jsonb' then '''{}''::jsonb' when 'boolean' then 'true'
        when 'name' then '''keyed_admin''::name' when 'bytea' then '''x''::bytea' when 'text' then '''x''::text'
        when 'integer' then '1' when 'bigint' then '1' when 'interval' then '''1 day''::interval' when 'timestamp with time zone' then 'now()'
        when 'text[]' then '''{a}''::text[]' when 'real[]' then 'array[1]::real[]' else format('null::%s', format_type(t, null)) end";
    let list = format!(
        "select format('select %s(%s)', p.oid::regproc, array_to_string(array(select {value} from unnest(p.proargtypes) with ordinality a (t, n) order by n), ', '))
         from pg_proc p join pg_language l on l.oid = p.prolang
         where p.pronamespace in ('keyed'::regnamespace, 'keyed_http'::regnamespace) and l.lanname = 'c' and p.proname <> 'library_version'
         and p.prorettype <> 'trigger'::regtype and not 'internal'::regtype = any (p.proargtypes) order by 1"
    );
    session.rows(&list, &[]).await.into_iter().filter_map(|mut row| row.pop().flatten()).collect()
}

fn assert_rejected(error: &SqlError, what: &str) {
    assert_eq!(error.state, "57P03", "{what}: {error}");
    assert!(error.message.contains("but the extension in this database is 99.0.0"), "{what}: {error}");
    assert!(error.hint.contains("Install the files of keyed 99.0.0"), "{what}: {}", error.hint);
}

#[tokio::test]
async fn older_library_rejects_every_function() {
    let database = Database::with_crm().await;
    let reader = database.create_role("reader").await;
    let prepare = database.session().await;
    prepare.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')").await;
    let of_ada = serde_json::json!({"field": "name", "operator": "eq", "value": "Ada"});
    database.grant_within(&reader, "crm.customers", "read, create, update", &of_ada).await;
    let contents =
        "select string_agg(c::text, '') || (select count(*) from keyed_state.template) from crm.customers c";
    let before = prepare.text(contents, &[]).await;
    set_version(&prepare, "99.0.0").await;

    let session = database.session().await;
    let calls = calls(&session).await;
    assert!(calls.len() > 100, "{calls:?}");
    for call in &calls {
        assert_rejected(&session.error(call, &[]).await, call);
    }
    // Plain SQL calls the library in triggers and policies.
    for write in [
        "insert into crm.customers (external_key) values ('L')",
        "update crm.customers set name = 'x'",
        "delete from crm.customers",
        "truncate crm.customers cascade",
    ] {
        assert_rejected(&session.error(write, &[]).await, write);
    }
    let error = database.session_as(&reader).await.error("select * from crm.customers", &[]).await;
    assert_rejected(&error, "a policy");
    assert_eq!(session.text(contents, &[]).await, before);
    assert_eq!(session.text("select keyed.library_version()", &[]).await, session.text(INSTALLED, &[]).await);

    let installed = session.text(INSTALLED, &[]).await;
    set_version(&session, &installed).await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Eve\"}')").await;
}

#[tokio::test]
async fn session_with_an_older_library_ends_after_an_update() {
    let database = Database::with_crm().await;
    let (idle, writer, administrator) =
        (database.session().await, database.session().await, database.session().await);
    idle.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"Ada\"}')").await;
    writer.run("begin; select keyed.upsert_by_key('crm.customers', 'L')").await;
    set_version(&administrator, "99.0.0").await;
    let read = "select keyed.get_by_key('crm.customers', 'K')";
    // Within a transaction, invalidations from other sessions are processed at the first call.
    let error = match writer.attempt(read, &[]).await {
        Ok(_) => writer.error(read, &[]).await,
        Err(error) => error,
    };
    for error in [error, idle.error(read, &[]).await] {
        assert_eq!(error.state, "57P01", "{error}");
        assert!(error.hint.contains("Connect again"), "{}", error.hint);
    }
    let sessions = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend'";
    administrator.until(sessions, "1").await;
    let written = "select count(*) from crm.customers";
    assert_eq!(administrator.text(written, &[]).await, "1", "the open transaction was rolled back");
}

#[tokio::test]
async fn failed_version_check_is_repeated() {
    let database = Database::with_crm().await;
    let (session, administrator, other) =
        (database.session().await, database.session().await, database.session().await);
    let write = "select keyed.upsert_by_key('crm.customers', 'K')";
    session.run(write).await;
    set_version(&administrator, "99.0.0").await;
    other.run("begin; lock table keyed_state.version in access exclusive mode").await;
    session.run("set lock_timeout = '100ms'").await;
    assert_eq!(session.error(write, &[]).await.state, "55P03");
    other.run("rollback").await;
    assert_eq!(session.error(write, &[]).await.state, "57P01");
}

#[tokio::test]
async fn newer_schema_version_is_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into keyed_state.version (number) values (9999)").await;
    let fresh = database.session().await;
    for statement in ["select keyed.upsert_by_key('crm.customers', 'K')", "select keyed.migrate()"] {
        let error = fresh.error(statement, &[]).await;
        assert_eq!(error.state, "57P03", "{error}");
        assert!(error.message.contains("has schema version 9999"), "{error}");
    }
    session.run("delete from keyed_state.version where number = 9999").await;
    until("the service is ready again", async || {
        fresh.attempt("select keyed.upsert_by_key('crm.customers', 'K')", &[]).await.is_ok()
    })
    .await;
}
