//! Objects that an administrator adds to record tables, and maintenance commands, which versions of PostgreSQL run
//! differently.

use harness::customers::HISTORY;
use harness::{Database, Session, major_version};
use serde_json::json;

const UPSERT: &str = "select keyed.upsert_by_key('crm.customers', $1, $2)";

async fn keys(session: &Session, query: &serde_json::Value) -> String {
    let result = session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
    let records = result["records"].as_array().expect("records").iter();
    records.filter_map(|record| record["external_key"].as_str()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn generated_column_does_not_affect_records() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    // Since PostgreSQL 18, a generated column can be virtual, so rows do not contain it.
    let kind = if major_version() < 18 { "stored" } else { "virtual" };
    session
        .run(&format!(
            "alter table crm.customers add column loud text generated always as (upper(external_key)) {kind}"
        ))
        .await;
    let clerk = database.create_role("clerk").await;
    let scope = json!({"field": "visits", "operator": "lt", "value": 3});
    database.grant_within(&clerk, "crm.customers", "read, create, update", &scope).await;
    let session = database.session_as(&clerk).await;
    for (key, visits) in [("a", 1), ("b", 2)] {
        session.rows(UPSERT, &[key, &json!({"name": "Ada", "visits": visits}).to_string()]).await;
    }
    session.rows(UPSERT, &["a", "{\"visits\": 0}"]).await;
    let record = session.json("select keyed.get_by_key('crm.customers', 'a')", &[]).await;
    assert_eq!((&record["attributes"]["visits"], record["attributes"].get("loud")), (&json!(0), None));
    assert_eq!(keys(&session, &json!({"global_search": "ada", "sort": "visits"})).await, "a b");
    let error = session.error(UPSERT, &["a", "{\"visits\": 3}"]).await;
    assert_eq!(error.state, "42501", "{error}");
    session.run("update crm.customers set visits = 1 where loud = 'A'").await;
    assert_eq!(
        session.text("select string_agg(loud, ' ' order by loud) from crm.customers", &[]).await,
        "A B"
    );
    let history = format!("select count(*) from {HISTORY}");
    assert_eq!(database.session().await.text(&history, &[]).await, "4");
}

#[tokio::test]
async fn deferred_trigger_fires_for_sql_and_is_rejected_for_functions() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "create table noted (role name); grant insert on noted to public;
             create function note() returns trigger language plpgsql
               as $$ begin insert into public.noted values (current_user); return null; end $$;
             create constraint trigger note after insert on crm.customers deferrable initially deferred
               for each row execute function note()",
        )
        .await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, create, update").await;
    session.run(&format!("begin; set local role {role}")).await;
    session.run("insert into crm.customers (external_key) values ('by statement')").await;
    session.run("reset role; commit").await;
    // Since PostgreSQL 18, the trigger runs as the role that wrote the row; before, as the role that commits.
    let fired_as = if major_version() < 18 { "postgres" } else { role.as_str() };
    assert_eq!(session.text("select string_agg(role, ' ') from noted", &[]).await, fired_as);
    // At the end of the transaction, it would run as the owner, without the restrictions of keyed's functions.
    let error = database.session_as(&role).await.error(UPSERT, &["by function", "{}"]).await;
    assert_eq!(error.state, "42501", "{error}");
    assert_eq!(keys(&session, &json!({})).await, "by statement");
    session.run("begin; set constraints all immediate").await;
    session.rows(UPSERT, &["by function", "{}"]).await;
    session.run("commit").await;
    assert_eq!(keys(&session, &json!({"sort": "external_key"})).await, "by function by statement");
}

#[tokio::test]
async fn maintenance_commands_work_on_keyed_objects() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.rows(UPSERT, &["a", "{\"name\": \"Ada\", \"visits\": 1}"]).await;
    session
        .rows(
            "select keyed.save_view('crm.customers', 'regulars', $1)",
            &[&json!({"sort": "visits"}).to_string()],
        )
        .await;
    // Since PostgreSQL 17, these commands run with a safe search path, whatever the session's is.
    session
        .run(
            "create view shown as select external_key, keyed.get_record(id) as record from crm.customers;
             create materialized view kept as select * from shown;
             select keyed.upsert_by_key('crm.customers', 'b', '{\"name\": \"Bea\"}');
             refresh materialized view kept; analyze;
             cluster crm.customers using customers_pkey",
        )
        .await;
    for command in [
        "reindex schema crm",
        "reindex schema keyed_state",
        "vacuum analyze crm.customers",
        "vacuum full keyed_state.template",
        "reindex table concurrently crm.customers",
    ] {
        session.run(command).await;
    }
    assert_eq!(session.text("select count(*) from kept", &[]).await, "2");
    assert_eq!(keys(&session, &json!({"global_search": "bea"})).await, "b");
    if major_version() < 17 {
        return; // The MAINTAIN privilege exists since PostgreSQL 17.
    }
    // A role with only MAINTAIN can read no record.
    let role = database.create_role("keeper").await;
    session
        .run(&format!("grant usage on schema crm to {role}; grant maintain on crm.customers to {role}"))
        .await;
    let keeper = database.session_as(&role).await;
    for command in ["analyze crm.customers", "vacuum crm.customers", "reindex table crm.customers"] {
        keeper.run(command).await;
    }
    assert_eq!(keeper.error("select from crm.customers", &[]).await.state, "42501");
    assert_eq!(keeper.error("select keyed.search('crm.customers')", &[]).await.state, "42501");
    assert_eq!(keys(&session, &json!({"global_search": "bea"})).await, "b");
}
