//! A revocation has taken effect when it returns, and does not wait for readers.

use crate::Waiting;
use harness::customers::HISTORY;
use harness::{Database, Session};
use serde_json::json;

pub(super) const READ: &str = "select count(*) from crm.customers";

/// Five customers, of whom two are called Ada.
pub(super) async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let administrator = database.session().await;
    for (number, name) in ["Ada", "Ada", "Bea", "Cleo", "Dora"].into_iter().enumerate() {
        let upsert = "select keyed.upsert_by_key('crm.customers', $1, $2)";
        administrator.rows(upsert, &[&number.to_string(), &json!({"name": name}).to_string()]).await;
    }
    // A statement that waits for a reader fails here.
    administrator.run("set statement_timeout = '30s'").await;
    (database, administrator)
}

pub(super) fn called(name: &str) -> serde_json::Value {
    json!({"field": "name", "operator": "eq", "value": name})
}

/// A session with an open transaction in which it has read all records, and with a cached plan that reads them.
pub(super) async fn reading(database: &Database, role: &str, isolation: &str) -> Session {
    let reader = database.session_as(role).await;
    reader.run(&format!("prepare read as {READ}; set plan_cache_mode = force_generic_plan")).await;
    reader.run(&format!("begin isolation level {isolation}")).await;
    for statement in [READ, "execute read"] {
        assert_eq!(reader.text(statement, &[]).await, "5", "{isolation}");
    }
    reader
}

#[tokio::test]
async fn revocation_does_not_wait_for_readers() {
    for isolation in ["read committed", "repeatable read", "serializable"] {
        let (database, administrator) = crm().await;
        let role = database.create_role("clerk").await;
        database.grant(&role, "crm.customers", "read, create, update, delete").await;
        let reader = reading(&database, &role, isolation).await;
        let revoke = format!("select keyed.revoke_access('{role}', 'crm.customers')");
        assert_eq!(administrator.text(&revoke, &[]).await, "4");
        // A statement that PostgreSQL plans or executes later finds nothing or is denied.
        for statement in [READ, "execute read", &format!("select count(*) from {HISTORY}")] {
            reader.run("savepoint s").await;
            match reader.attempt(statement, &[]).await {
                Ok(rows) => assert_eq!(rows[0][0].as_deref(), Some("0"), "{isolation}: {statement}"),
                Err(error) => assert_eq!(error.state, "42501", "{isolation}: {statement}"),
            }
            reader.run("rollback to s").await;
        }
        for statement in [
            "select keyed.search('crm.customers')",
            "select keyed.get_by_key('crm.customers', '1')",
            "select keyed.create_record('crm.customers', '{}', 'new')",
            "insert into crm.customers (external_key) values ('new')",
        ] {
            reader.run("savepoint s").await;
            assert_eq!(reader.error(statement, &[]).await.state, "42501", "{isolation}: {statement}");
            reader.run("rollback to s").await;
        }
        for statement in
            ["update crm.customers set name = 'x'", "update crm.customers set deleted_at = now()"]
        {
            reader.run("savepoint s").await;
            match reader.count(statement, &[]).await {
                Ok(count) => assert_eq!(count, 0, "{isolation}: {statement}"),
                Err(error) => assert_eq!(error.state, "42501", "{isolation}: {statement}"),
            }
            reader.run("rollback to s").await;
        }
        reader.run("commit").await;
        assert_eq!(reader.error(READ, &[]).await.state, "42501");
        assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
        let left = "select count(*) from pg_shdepend where refobjid = $1::regrole and dbid <> 0";
        assert_eq!(administrator.text(left, &[&role]).await, "0", "nothing depends on the role any more");
    }
}

#[tokio::test]
async fn narrowed_grant_applies_immediately() {
    let (database, administrator) = crm().await;
    let (role, group) = (database.create_role("clerk").await, database.create_role("group").await);
    administrator.run(&format!("grant {group} to {role}")).await;
    database.grant_within(&group, "crm.customers", "read, update", &called("Ada")).await;
    database.grant(&role, "crm.customers", "read, update").await;
    let reader = database.session_as(&role).await;
    reader.run(&format!("prepare read as {READ}; begin")).await;
    for statement in [READ, "execute read"] {
        assert_eq!(reader.text(statement, &[]).await, "5");
    }
    let revoke = format!("select keyed.revoke_access('{role}', 'crm.customers')");
    assert_eq!(administrator.text(&revoke, &[]).await, "2");
    for statement in [READ, "execute read"] {
        assert_eq!(reader.text(statement, &[]).await, "2", "those of the group: {statement}");
    }
    assert_eq!(
        reader.count("update crm.customers set name = name || ''", &[]).await.expect("access is allowed"),
        2
    );
    reader.run("commit").await;
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
    assert_eq!(reader.text(READ, &[]).await, "2");
}

#[tokio::test]
async fn revocation_does_not_wait_for_an_open_change_of_the_table() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read").await;
    let definer = database.session().await;
    definer
        .run("begin; select keyed.add_attribute('crm.customers', '{\"slug\": \"more\", \"type\": \"string\"}')")
        .await;
    let revoke = format!("select keyed.revoke_access('{role}', 'crm.customers')");
    assert_eq!(administrator.text(&revoke, &[]).await, "1");
    definer.run("commit").await;
    let reader = database.session_as(&role).await;
    match reader.attempt(READ, &[]).await {
        Ok(rows) => assert_eq!(rows[0][0].as_deref(), Some("0")),
        Err(error) => assert_eq!(error.state, "42501"),
    }
    assert_eq!(reader.error("select keyed.search('crm.customers')", &[]).await.state, "42501");
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
    assert_eq!(reader.error(READ, &[]).await.state, "42501", "the privilege is removed, too");
}

#[tokio::test]
async fn listing_templates_locks_no_table_of_records() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    let unprivileged = database.create_role("stranger").await;
    database.grant(&role, "crm.customers", "read").await;
    let key = database.api_key(&role, &["crm"]).await;
    let proxy = database.session_as("keyed_proxy").await;
    let (clerk, unprivileged) = (database.session_as(&role).await, database.session_as(&unprivileged).await);
    let of_proxy =
        |function: &str| format!("select keyed_http.{function} from keyed.authenticate(sha256('{key}'))");
    for (session, statement) in [
        (&unprivileged, "select keyed.me()".to_owned()),
        (&clerk, "select keyed.me()".to_owned()),
        (&administrator, "select keyed.me()".to_owned()),
        (&proxy, of_proxy("me()")),
        (&proxy, of_proxy("list_templates()")),
        (&proxy, of_proxy("list_projects()")),
    ] {
        session.run("begin").await;
        session.rows(&statement, &[]).await;
        let locked = "select string_agg(distinct l.relation::regclass::text, ' ') from pg_locks l
             join pg_class c on c.oid = l.relation
             where l.database = (select oid from pg_database where datname = current_database())
             and (c.relnamespace = 'crm'::regnamespace or c.relname ~ '^(history|text|vector|metric)_')";
        let locked = database.session().await.rows(locked, &[]).await;
        assert_eq!(locked[0][0], None, "{statement}");
        session.run("commit").await;
    }
}

#[tokio::test]
async fn revocation_includes_a_concurrent_grant() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read").await;
    let other = database.session().await;
    other.run("begin").await;
    let scope = "{\"field\": \"name\", \"operator\": \"eq\", \"value\": \"Ada\"}";
    other.run(&format!("select keyed.grant_access('{role}', 'crm.customers', '{{read}}', '{scope}')")).await;
    let revoke = format!("select keyed.revoke_access('{role}', 'crm.customers')");
    let waiting = Waiting::start(database.session().await, &administrator, &revoke, &[]).await;
    other.run("commit").await;
    waiting.outcome().await.expect("a revocation");
    let left = "select count(*) from keyed.list_access() where role = $1";
    assert_eq!(administrator.text(left, &[&role]).await, "0");
    let reader = database.session_as(&role).await;
    assert_eq!(reader.error(READ, &[]).await.state, "42501");
}

#[tokio::test]
async fn only_administrators_and_the_proxy_run_locking_maintenance() {
    let (database, _administrator) = crm().await;
    let unprivileged = database.session_as(&database.create_role("stranger").await).await;
    for statement in
        ["select keyed.enforce_grants()", "select keyed_http.run_jobs()", "select keyed.run_jobs()"]
    {
        assert_eq!(unprivileged.error(statement, &[]).await.state, "42501", "{statement}");
    }
    let proxy = database.session().await;
    proxy.run("set session authorization keyed_proxy").await;
    for statement in ["select keyed.enforce_grants(100)", "select keyed_http.run_jobs()"] {
        proxy.run(statement).await;
    }
}

#[tokio::test]
async fn policy_reads_its_grant_once_per_query() {
    let (database, administrator) = crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read").await;
    let reader = database.session_as(&role).await;
    let lookups = "select idx_scan from pg_stat_user_indexes where indexrelname = 'access_grant_pkey'";
    reader.run("select pg_stat_force_next_flush()").await;
    let before: i64 = administrator.text(lookups, &[]).await.parse().expect("a number");
    reader.run("begin isolation level serializable").await;
    assert_eq!(reader.text(READ, &[]).await, "5");
    let noted = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation
                 where l.mode = 'SIReadLock' and l.pid = $1::integer and c.relname ~ '^access_grant'";
    let process = reader.process().await;
    assert_eq!(administrator.text(noted, &[&process]).await, "0", "a grant is no conflict for a reader");
    reader.run("commit; select pg_stat_force_next_flush()").await;
    let after: i64 = administrator.text(lookups, &[]).await.parse().expect("a number");
    assert_eq!(after - before, 1);
}
