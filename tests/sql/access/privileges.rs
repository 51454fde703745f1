//! Functions apply the privileges of the role that calls them.

use harness::customers::{HISTORY, SERIES};
use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// A session of a role with these privileges on customers, and the customer `A-1`.
async fn with_grants(privileges: &str) -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let superuser = database.session().await;
    superuser.run(&format!("grant usage on schema crm to {role}")).await;
    if !privileges.is_empty() {
        database.grant(&role, "crm.customers", privileges).await;
    }
    let record = superuser
        .json("select keyed.create_record('crm.customers', '{\"name\": \"Ada\"}', 'A-1')", &[])
        .await;
    let session = database.session_as(&role).await;
    (database, session, record)
}

/// Every function on records, with the privilege it needs; `$1` is the id of a customer.
const FUNCTIONS: [(&str, &str); 13] = [
    ("read", "select keyed.get_record($1)"),
    ("read", "select keyed.get_by_key('crm.customers', 'A-1')"),
    ("read", "select keyed.history_page($1)"),
    ("read", "select from keyed.history($1)"),
    ("read", "select keyed.metric_page($1, 'mood')"),
    ("read", "select from keyed.metric_series($1, 'mood')"),
    ("create", "select keyed.create_record('crm.customers', '{}')"),
    ("update", "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}')"),
    ("update", "select keyed.replace_attributes($1, '{}')"),
    ("create, update", "select keyed.upsert_by_key('crm.customers', 'A-2')"),
    (
        "read, update",
        "select keyed.replace_metric_points($1, 'mood', '[{\"value\": 1, \"at\": \"2024-01-01T00:00:00Z\"}]')",
    ),
    ("read, update", "select keyed.delete_metric_points($1, 'mood', '2024-01-01T00:00:00Z')"),
    ("delete", "select keyed.delete_record($1)"),
];

#[tokio::test]
async fn role_without_privileges_can_do_nothing() {
    let (_database, session, record) = with_grants("").await;
    for (_, statement) in FUNCTIONS {
        assert_eq!(
            session.error(statement, &[id_of(&record)]).await.codes(),
            ("42501", "forbidden"),
            "{statement}"
        );
    }
    for statement in [
        "select from crm.customers",
        "select from keyed_state.template",
        &format!("select from {HISTORY}"),
        "select from keyed_state.api_key",
        &format!("select from {SERIES}"),
        "create table keyed_state.x ()",
        "create table crm.x ()",
        "create function keyed.x() returns int language sql as 'select 1'",
        "set role keyed_owner",
        "set role keyed_admin",
        "set session authorization postgres",
    ] {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn privilege_allows_exactly_its_functions() {
    for right in ["read", "create", "update", "delete"] {
        let (_database, session, record) = with_grants(right).await;
        for (needs, statement) in FUNCTIONS {
            let statements = format!("begin; {statement}; rollback");
            let outcome = session.attempt(&statements, &[id_of(&record)]).await;
            session.run("rollback").await;
            match outcome {
                Ok(_) => assert!(needs == right, "{statement} ran with only {right}"),
                Err(error) => {
                    assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
                    assert!(needs != right, "{statement} did not run with {right}");
                }
            }
        }
    }
}

#[tokio::test]
async fn keyed_admin_has_all_privileges() {
    let (database, _, record) = with_grants("").await;
    let role = database.create_role("admin").await;
    database.session().await.run(&format!("grant keyed_admin to {role}")).await;
    let session = database.session_as(&role).await;
    for (_, statement) in FUNCTIONS {
        session.rows(statement, &[id_of(&record)]).await;
    }
    session.rows("select keyed.restore_record($1)", &[id_of(&record)]).await;
}

#[tokio::test]
async fn function_applies_the_privileges_of_the_effective_role() {
    let (database, _, record) = with_grants("").await;
    let role = database.create_role("nobody").await;
    let superuser = database.session().await;
    superuser.run(&format!("set role {role}")).await;
    let error = superuser.error("select keyed.get_record($1)", &[id_of(&record)]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
    superuser.run("reset role").await;
    superuser.rows("select keyed.get_record($1)", &[id_of(&record)]).await;
}

#[tokio::test]
async fn revocation_takes_effect_immediately() {
    let (database, session, record) = with_grants("read").await;
    session.rows("select keyed.get_record($1)", &[id_of(&record)]).await;
    let role = session.text("select current_user", &[]).await;
    database.session().await.run(&format!("revoke select on crm.customers from {role}")).await;
    let error = session.error("select keyed.get_record($1)", &[id_of(&record)]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn key_conflict_discloses_its_record_only_to_readers() {
    let (_database, session, _) = with_grants("create, update").await;
    let other = session.text("select id from keyed.upsert_by_key('crm.customers', 'B-1')", &[]).await;
    for (statement, strings) in [
        ("select keyed.create_record('crm.customers', '{}', 'A-1')", &[][..]),
        ("select keyed.patch_record($1, '{\"external_key\": \"A-1\"}')", &[other.as_str()][..]),
    ] {
        let error = session.error(statement, strings).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{statement}");
        assert_eq!(error.detail["existing_id"], Value::Null, "{statement}");
    }
}

#[tokio::test]
async fn caller_without_read_gets_only_the_id() {
    let (_database, session, record) = with_grants("create, update, delete").await;
    let id = id_of(&record);
    let only_id = json!({"id": id});
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"visits\": 1}}')",
        "select keyed.patch_record($1, '{\"external_key\": \"A-1\"}')",
        "select keyed.patch_record($1, '{}')",
        "select keyed.replace_attributes($1, '{\"visits\": 2}')",
    ] {
        assert_eq!(session.json(statement, &[id]).await, only_id, "{statement}");
    }
    session.rows("select keyed.delete_record($1)", &[id]).await;
    assert_eq!(session.json("select keyed.restore_record($1)", &[id]).await, only_id);
    let made = session.json("select keyed.create_record('crm.customers', '{\"name\": \"x\"}')", &[]).await;
    assert_eq!(made.as_object().map(|members| members.len()), Some(1), "{made}");
    let function = "select keyed_http.upsert_by_key('2', '{\"external_key\": \"A-1\"}', null, true)";
    let result = session.text(function, &[]).await;
    assert!(!result.contains("visits"), "{result}");
}

#[tokio::test]
async fn reference_to_an_unreadable_record_is_rejected_as_missing() {
    let (database, session, _) = with_grants("read, create").await;
    let company = "select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}', 'C-1')";
    let company = database.session().await.json(company, &[]).await;
    let mut errors = Vec::new();
    let missing = json!("00000000-0000-0000-0000-000000000000");
    for reference in
        [company["id"].clone(), missing, json!({"external_key": "C-1"}), json!({"external_key": "C-9"})]
    {
        let attributes = json!({"company": reference}).to_string();
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert_eq!(error.codes(), ("23503", "reference_not_found"));
        // The two errors differ only in the name that was sent.
        let name = reference["external_key"].as_str().or(reference.as_str()).expect("a name");
        errors.push(format!("{error:?}").replace(name, "…"));
    }
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

#[tokio::test]
async fn verbose_hides_unreadable_targets() {
    let (database, session, record) = with_grants("read").await;
    let superuser = database.session().await;
    let company = "select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}', 'C-1')";
    let company = superuser.json(company, &[]).await;
    let body = json!({"attributes": {"company": company["id"]}}).to_string();
    superuser.rows("select keyed.patch_record($1, $2)", &[id_of(&record), &body]).await;
    let verbose = session.text("select keyed.get_record($1, verbose => true)", &[id_of(&record)]).await;
    assert!(!verbose.contains("ACME") && !verbose.contains("C-1"), "{verbose}");
}

#[tokio::test]
async fn objects_in_other_schemas_do_not_shadow_keyed() {
    let (database, session, record) = with_grants("read, create, update, delete").await;
    database.session().await.run("create schema evil; grant all on schema evil to public").await;
    session.run(
        "create function evil.boom(anyelement) returns boolean language plpgsql as $$ begin raise 'planted'; end $$;
         create function evil.now() returns timestamptz language plpgsql as $$ begin raise 'planted'; end $$;
         create function evil.max(integer) returns integer language plpgsql as $$ begin raise 'planted'; end $$;
         create function evil.eq(text, text) returns boolean language plpgsql as $$ begin raise 'planted'; end $$;
         create function evil.eq(uuid, uuid) returns boolean language plpgsql as $$ begin raise 'planted'; end $$;
         create operator evil.= (leftarg = text, rightarg = text, function = evil.eq);
         create operator evil.= (leftarg = uuid, rightarg = uuid, function = evil.eq);
         create domain evil.text as pg_catalog.text check (value = 'planted');
         create temporary table pg_class (x int); create temporary table template (x int);
         create temporary table project (x int); create temporary table customers (x int);
         set search_path = pg_temp, evil, pg_catalog",
    ).await;
    let upsert =
        "select created from keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Bea\", \"mood\": 1}')";
    assert_eq!(session.text(upsert, &[]).await, "f");
    session.run("insert into crm.customers (external_key) values (' B-1 ')").await;
    for (_, statement) in FUNCTIONS {
        session.rows(statement, &[id_of(&record)]).await;
    }
}
