//! Grants, and grants that are rejected.

use harness::{Database, id_of};
use serde_json::json;

const GRANT: &str = "select keyed.grant_access($1::name, $2, $3::text[], $4::jsonb)";

#[tokio::test]
async fn invalid_grant_is_rejected_with_its_pointer() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let session = database.session().await;
    let scope = r#"{"field": "name", "operator": "eq", "value": "Ada"}"#;
    for (name, target, privileges, scope, code, position) in [
        ("nobody_here", "crm.customers", "{read}", "null", "invalid_value", "/role"),
        ("keyed_owner", "crm.customers", "{read}", "null", "invalid_value", "/role"),
        ("keyed_admin", "crm.customers", "{read}", "null", "invalid_value", "/role"),
        ("keyed_proxy", "crm.customers", "{read}", "null", "invalid_value", "/role"),
        (&role, "crm.nothing", "{read}", "null", "invalid_value", "/target"),
        (&role, "nothing", "{read}", "null", "invalid_value", "/target"),
        (&role, "", "{read}", "null", "invalid_value", "/target"),
        (&role, "crm.customers.x", "{read}", "null", "invalid_value", "/target"),
        (&role, "crm.customers", "{}", "null", "invalid_value", "/privileges"),
        (&role, "crm.customers", "{read,select}", "null", "invalid_value", "/privileges/1"),
        (&role, "crm.customers", "{define}", scope, "invalid_value", "/privileges"),
        (&role, "crm", "{read}", scope, "unknown_field", "/scope"),
        (&role, "crm.customers", "{read}", "{}", "invalid_value", "/scope"),
        (&role, "crm.customers", "{read}", "[]", "invalid_value", "/scope"),
        (
            &role,
            "crm.customers",
            "{read}",
            r#"[{"field": "nope", "operator": "eq", "value": 1}]"#,
            "unknown_field",
            "/scope/0/field",
        ),
        (
            &role,
            "crm.customers",
            "{read}",
            r#"{"field": "external_key", "operator": "gt", "value": "a"}"#,
            "operator_not_allowed",
            "/scope/operator",
        ),
    ] {
        let error = session.error(GRANT, &[name, target, privileges, scope]).await;
        assert_eq!(error.codes().1, code, "{target} {privileges} {scope}: {error}");
        assert_eq!(error.pointers().first().copied().unwrap_or_default(), position, "{error}");
        assert!(!error.hint.is_empty() || error.message.contains("which takes"), "{error}");
    }
    assert_eq!(session.text("select count(*) from keyed.list_access()", &[]).await, "0");
}

#[tokio::test]
async fn only_administrators_grant() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read, create, update, delete, define").await;
    let clerk = database.session_as(&role).await;
    for statement in [
        "select keyed.grant_access(current_user, 'crm', '{read}')",
        "select keyed.revoke_access(current_user, 'crm')",
        "select keyed.explain_access(keyed.new_id(2), current_user)",
        "select * from keyed.list_access()",
    ] {
        assert_eq!(clerk.error(statement, &[]).await.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn repeated_grant_replaces_the_scope_of_its_privileges() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "name", "operator": "eq", "value": "Ada"});
    database.grant_within(&role, "crm.customers", "read, update", &scope).await;
    database.grant(&role, "crm.customers", "read").await;
    let session = database.session().await;
    let list =
        "select string_agg(target || ' ' || privilege || ' ' || coalesce(scope ->> 'value', 'all'), ', '
                order by privilege) from keyed.list_access() where role = $1";
    assert_eq!(session.text(list, &[&role]).await, "crm.customers read all, crm.customers update Ada");
    let revoke = "select keyed.revoke_access($1::name, 'crm.customers')";
    assert_eq!(session.text(revoke, &[&role]).await, "2");
    assert_eq!(session.text(revoke, &[&role]).await, "0");
    assert_eq!(session.text("select count(*) from keyed.list_access()", &[]).await, "0");
    let left = "select count(*) from pg_policy where polrelid = 'crm.customers'::regclass";
    assert_eq!(session.text(left, &[]).await, "1", "the one of administrators");
    let privileges = "select has_table_privilege($1, 'crm.customers', 'select')
                        or has_schema_privilege($1, 'crm', 'usage')";
    assert_eq!(session.text(privileges, &[&role]).await, "f");
}

#[tokio::test]
async fn revocation_keeps_schema_usage_of_other_grants() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("create table crm.notes (a integer, b integer)").await;
    let is_open = "select has_schema_privilege($1, 'crm', 'usage')";
    let revoke = "select keyed.revoke_access($1::name, 'crm.customers')";
    for (name, given) in [
        ("reader", "select on crm.notes"),
        ("writer", "update (b) on crm.notes"),
        ("buyer", "select on crm.companies"),
    ] {
        let role = database.create_role(name).await;
        session.run(&format!("grant {given} to {role}")).await;
        database.grant(&role, "crm.customers", "read").await;
        assert_eq!(session.text(is_open, &[&role]).await, "t");
        assert_eq!(session.text(revoke, &[&role]).await, "1");
        assert_eq!(session.text(is_open, &[&role]).await, "t", "{given}");
        session.run(&format!("revoke {given} from {role}")).await;
        database.grant(&role, "crm.customers", "read").await;
        session.text(revoke, &[&role]).await;
        assert_eq!(session.text(is_open, &[&role]).await, "f", "{given}");
    }
}

#[tokio::test]
async fn define_allows_changing_templates_without_reading_records() {
    let database = Database::with_crm().await;
    let (maker, changer) = (database.create_role("maker").await, database.create_role("changer").await);
    database.grant(&maker, "crm", "define").await;
    database.grant(&changer, "crm.customers", "define").await;
    let (maker, changer) = (database.session_as(&maker).await, database.session_as(&changer).await);
    maker
        .rows(
            "select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')",
            &[],
        )
        .await;
    maker.rows("select keyed.drop_attribute('crm.orders', 'n')", &[]).await;
    changer
        .rows(
            "select keyed.add_attribute('crm.customers', '{\"slug\": \"more\", \"type\": \"string\"}')",
            &[],
        )
        .await;
    for (session, statement) in [
        (&maker, "select keyed.search('crm.orders')"),
        (&maker, "select keyed.create_project('other')"),
        (&changer, "select keyed.create_template('crm', 'mine')"),
        (&changer, "select keyed.drop_attribute('crm.orders', 'x')"),
        (&changer, "select keyed.search('crm.customers')"),
    ] {
        assert_eq!(session.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    maker.rows("select keyed.drop_template('crm.orders')", &[]).await;
}

#[tokio::test]
async fn dropped_role_loses_its_grants() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let role = format!("leaver_{}", database.name());
    session.run(&format!("create role {role}")).await;
    let scope = json!({"field": "company.name", "operator": "eq", "value": "ACME"});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    database.grant(&role, "crm", "create").await;
    let error = session.error(&format!("drop role {role}"), &[]).await;
    assert_eq!(error.state, "2BP01");
    session.run(&format!("drop owned by {role}; drop role {role}")).await;
    session.run("select keyed.create_template('crm', 'orders')").await;
    assert_eq!(session.text("select count(*) from keyed.list_access()", &[]).await, "0");
    let functions = "select count(*) from pg_proc where pronamespace = 'keyed_scope'::regnamespace";
    assert_eq!(session.text(functions, &[]).await, "0");
}

#[tokio::test]
async fn me_shows_the_privileges_of_every_caller() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "name", "operator": "eq", "value": "Ada"});
    database.grant_within(&role, "crm.customers", "read, update", &scope).await;
    database.grant(&role, "crm.customers", "create").await;
    let me = database.session_as(&role).await.json("select keyed.me()", &[]).await;
    let customers = json!({"id": "2", "template": "crm.customers", "privileges": ["read", "create", "update"],
                           "scoped": ["read", "update"]});
    assert_eq!(
        me,
        json!({"key": null, "role": role, "admin": false, "project": null, "projects": null, "templates": [customers]})
    );
    let me = database.session().await.json("select keyed.me()", &[]).await;
    assert_eq!((&me["admin"], me["templates"].as_array().map(Vec::len)), (&json!(true), Some(2)));
}

#[tokio::test]
async fn last_use_of_a_key_is_not_written_on_each_request() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read").await;
    let key = database.api_key(&role, &["crm"]).await;
    let session = database.session().await;
    let used = "select last_used_at is not null from keyed.list_api_keys()";
    assert_eq!(session.text(used, &[]).await, "f");
    let proxy = database.session_as("keyed_proxy").await;
    let authenticate = "select keyed.authenticate(sha256($1::bytea))";
    for _ in 0..5 {
        proxy.rows(authenticate, &[&key]).await;
    }
    assert_eq!(session.text(used, &[]).await, "t");
    proxy.rows("select pg_stat_force_next_flush()", &[]).await;
    let written = "select n_tup_upd from pg_stat_user_tables where relname = 'api_key_use'";
    assert_eq!(session.text(written, &[]).await, "1");
}

#[tokio::test]
async fn revocation_does_not_wait_for_a_request_that_uses_the_key() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let key = database.api_key(&role, &["crm"]).await;
    let proxy = database.session_as("keyed_proxy").await;
    proxy.run("begin").await;
    proxy.rows("select keyed.authenticate(sha256($1::bytea))", &[&key]).await;
    let session = database.session().await;
    session.run("set lock_timeout = '2s'").await;
    assert_eq!(session.text("select keyed.revoke_api_key(1)", &[]).await, "t");
    proxy.run("commit").await;
    let error = proxy.error("select keyed.authenticate(sha256($1::bytea))", &[&key]).await;
    assert_eq!(error.codes(), ("28000", "unauthorized"));
}

#[tokio::test]
async fn fixed_snapshot_reads_despite_side_writes() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let record =
        session.json("select keyed.create_record('crm.customers', '{\"name\": \"Ada\"}', 'A-1')", &[]).await;
    let reader = database.session().await;
    reader.run("begin isolation level repeatable read; select 1").await;
    session.run("update keyed_state.attribute_use set filters = filters + 1").await;
    let query = r#"{"filters": [{"field": "name", "operator": "eq", "value": "Ada"}]}"#;
    let found = reader.json("select keyed.search('crm.customers', $1)", &[query]).await;
    assert_eq!(found["records"][0]["id"].as_str(), Some(id_of(&record)));
    reader.run("commit").await;
}

#[tokio::test]
async fn grant_beyond_the_acl_limit_is_rejected_with_a_hint() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let session = database.session().await;
    // The roles that fill the ACL are rolled back with the transaction.
    session
        .run(
            "begin;
             do $$ begin
               for number in 1..10000 loop
                 begin
                   execute format('create role filler_%s', number);
                   execute format('grant select on crm.customers to filler_%s', number);
                 exception when program_limit_exceeded then exit;
                 end;
               end loop;
             end $$",
        )
        .await;
    let grant = format!("select keyed.grant_access('{role}', 'crm.customers', '{{read}}')");
    let error = session.error(&grant, &[]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
    assert!(error.hint.contains("group"), "{error}");
    session.run("rollback").await;
    session.run(&grant).await;
}
