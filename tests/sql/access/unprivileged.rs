//! Functions that a role without privileges can call disclose nothing and change nothing.

use harness::Database;

#[tokio::test]
async fn trigger_function_on_a_user_table_is_rejected_without_a_crash() {
    let database = Database::with_crm().await;
    let role = database.create_role("stranger").await;
    let session = database.session_as(&role).await;
    session.run("create temp table own (a int)").await;
    for function in ["guard_record", "note_history"] {
        for timing in ["before insert on own for each statement", "before insert on own for each row"] {
            session.run(&format!("create trigger t {timing} execute function keyed.{function}()")).await;
            session.error("insert into own values (1)", &[]).await;
            session.run("drop trigger t on own").await;
        }
    }
    assert_eq!(session.text("select count(*) from own", &[]).await, "0");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn administrator_functions_are_denied_without_naming_tables() {
    let database = Database::with_crm().await;
    let role = database.create_role("stranger").await;
    database.session().await.run(&format!("grant usage on schema crm to {role}")).await;
    let session = database.session_as(&role).await;
    for statement in [
        "select from keyed.list_api_keys()",
        "select from keyed.list_access()",
        "select from keyed.embedding_status()",
        "select from keyed.embedding_failures()",
        "select from keyed.embedding_failures('crm.customers')",
        "select from keyed.suggest_indexes('crm.customers')",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}: {error}");
        assert!(error.hint.contains("keyed_admin") && !error.message.contains("keyed_state"), "{error}");
    }
}

#[tokio::test]
async fn attribute_names_are_hidden_from_callers_without_privileges() {
    let database = Database::with_crm().await;
    let role = database.create_role("stranger").await;
    database.session().await.run(&format!("grant usage on schema crm to {role}")).await;
    let session = database.session_as(&role).await;
    for statement in [
        "select keyed.create_record('crm.customers', '{\"nope\": 1, \"tier\": \"nope\"}')",
        "select keyed.upsert_by_key('crm.customers', 'K', '{\"nope\": 1, \"tier\": \"nope\"}')",
        "select keyed.batch('[{\"op\": \"upsert\", \"template\": \"crm.customers\", \"external_key\": \"K\", \"attributes\": {\"nope\": 1}}]', true)",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
        assert!(!format!("{error} {}", error.hint).contains("visits"), "{error} {}", error.hint);
    }
}

#[tokio::test]
async fn metric_and_null_alternate_in_one_session() {
    let database = Database::with_crm().await;
    for values in [["null", "1"], ["1", "null"]] {
        let session = database.session().await;
        for value in values.iter().cycle().take(4) {
            session
                .rows(&format!("select keyed.create_record('crm.customers', '{{\"mood\": {value}}}')"), &[])
                .await;
            let upsert = format!(
                "select keyed.upsert_by_key('crm.customers', gen_random_uuid()::text, '{{\"mood\": {value}}}')"
            );
            session.rows(&upsert, &[]).await;
        }
    }
}

#[tokio::test]
async fn direct_deletion_needs_the_delete_privilege() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, create, update").await;
    let session = database.session_as(&role).await;
    session.run("insert into crm.customers (external_key) values ('K')").await;
    let error = session.error("update crm.customers set deleted_at = now()", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
    database.grant(&role, "crm.customers", "delete").await;
    session.run("update crm.customers set deleted_at = now()").await;
    let moved = database
        .session()
        .await
        .error("update crm.customers set deleted_at = deleted_at - interval '1 day'", &[])
        .await;
    assert_eq!(moved.codes(), ("22023", "invalid_value"));
}
