//! Attempts to infer hidden rows from functions, errors, statistics and plans.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::json;

/// Records every value that it gets, with the lowest possible cost, so the planner would call it first if it could.
const SPY: &str = "
    create temp table shown (value text);
    create function pg_temp.spy(value text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin insert into shown values (value); return true; end $$;
    create function pg_temp.spy(value uuid) returns boolean language plpgsql cost 0.0000001 as
      $$ begin insert into shown values (value::text); return true; end $$;
    create function pg_temp.spy2(value text, other text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin insert into shown values (value); return true; end $$;
    create operator pg_temp.<<< (leftarg = text, rightarg = text, function = pg_temp.spy2)";

async fn reader() -> (Sales, Session) {
    let sales = Sales::new().await;
    sales.admin.run("update crm.customers set name = 'Customer EU-1' where external_key = 'EU-1'; analyze crm.customers").await;
    let scope = json!([of_region("EU"), {"field": "company.region", "operator": "eq", "value": "EU"}]);
    let (role, session) = sales.clerk("read, update, delete", &scope).await;
    sales.database.grant(&role, "crm.companies", "read").await;
    (sales, session)
}

#[tokio::test]
async fn leaky_functions_and_operators_get_no_hidden_row() {
    let (_sales, session) = reader().await;
    session.run(SPY).await;
    for statement in [
        "select from crm.customers where pg_temp.spy(name)",
        "select from crm.customers where name operator(pg_temp.<<<) 'x'",
        "select from crm.customers where pg_temp.spy(external_key) and region = 'US'",
        "select from crm.customers where pg_temp.spy(id)",
        "select pg_temp.spy(name) from crm.customers",
        "select from crm.customers order by pg_temp.spy(name)",
        "select count(*) filter (where pg_temp.spy(name)) from crm.customers",
        "select from crm.companies c join crm.customers k on k.company = c.id and pg_temp.spy(k.name)",
        "select from crm.companies c, lateral (select from crm.customers k where pg_temp.spy(k.name)) k",
        "with k as not materialized (select * from crm.customers) select from k where pg_temp.spy(name)",
        "begin; update crm.customers set name = name where pg_temp.spy(name); rollback and no chain",
        "select from crm.customers where pg_temp.spy(name) for update",
        "select from crm.customers tablesample system (100) where pg_temp.spy(name)",
        "select from crm.customers where ctid in ('(0,1)', '(0,2)', '(0,3)', '(0,4)', '(0,5)', '(0,6)') and pg_temp.spy(name)",
        "select from crm.customers where ctid >= '(0,0)' and pg_temp.spy(external_key)",
        "select from crm.customers where case when pg_temp.spy(name) then true end",
    ] {
        for planner in ["set enable_seqscan = on", "set enable_seqscan = off"] {
            session.run(&format!("truncate shown; {planner}")).await;
            let statement = statement.replace("rollback and no chain", "commit");
            session.run(&statement).await;
            let hidden = "select count(*) from shown where value !~ '^(Customer )?EU-[12]$'
                            and value not in (select id::text from crm.customers)";
            assert_eq!(session.text(hidden, &[]).await, "0", "{statement} with {planner}");
        }
    }
}

#[tokio::test]
async fn errors_disclose_no_hidden_value() {
    let (_sales, session) = reader().await;
    for statement in [
        "select name::int from crm.customers where region = 'US'",
        "select * from crm.customers where name::int > 0",
        "select 1 / (case when region = 'US' then 0 else 1 end) from crm.customers",
        "select * from crm.customers where 1 / (case when region = 'US' then 0 else 1 end) = 1",
        "select name::date from crm.customers where external_key like 'US%'",
        "update crm.customers set external_key = 'US-1' where external_key = 'EU-1'",
        "update crm.customers set amount = 1 / (case when region = 'US' then 0 else 1 end)",
    ] {
        if let Err(error) = session.attempt(statement, &[]).await {
            let text = format!("{error:?}");
            assert!(!text.contains("Customer US") && error.state != "22012", "{statement}: {text}");
        }
    }
}

#[tokio::test]
async fn statistics_and_system_columns_disclose_no_hidden_row() {
    let (sales, session) = reader().await;
    sales.admin.run("analyze").await;
    assert_eq!(
        session.text("select count(*) from pg_stats where schemaname in ('crm', 'keyed_state')", &[]).await,
        "0"
    );
    assert_eq!(session.text("select count(*) from pg_stats_ext where schemaname = 'crm'", &[]).await, "0");
    let all = sales
        .admin
        .rows("select ctid from crm.customers where external_key not in ('EU-1', 'EU-2')", &[])
        .await;
    for row in all {
        let ctid = row[0].clone().unwrap_or_default();
        let statement = "select id from crm.customers where ctid = $1::tid";
        assert!(session.rows(statement, &[&ctid]).await.is_empty(), "{ctid}");
        let statement = "update crm.customers set region = 'EU' where ctid = $1::tid returning id";
        assert!(session.rows(statement, &[&ctid]).await.is_empty(), "{ctid}");
    }
    let whole = session.text("select string_agg(c::text, ' ') from crm.customers c", &[]).await;
    assert!(whole.contains("EU-1") && !whole.contains("US-1"), "{whole}");
    let xml = session.attempt("select table_to_xml('crm.customers', false, false, '')", &[]).await;
    assert!(!format!("{xml:?}").contains("US-1"));
}

#[tokio::test]
async fn explain_discloses_no_value() {
    let (_sales, session) = reader().await;
    for options in ["", "(analyze, verbose)", "(verbose, format json)"] {
        let plan = session
            .rows(&format!("explain {options} select * from crm.customers where external_key = 'US-1'"), &[])
            .await;
        assert!(!format!("{plan:?}").contains("Globex"), "{plan:?}");
    }
    let plan = session.rows("explain (analyze, costs off) select * from crm.customers where name operator(pg_catalog.~~) '%x%'", &[]).await;
    assert!(!format!("{plan:?}").contains("Customer US"), "{plan:?}");
}

#[tokio::test]
async fn deletion_discloses_no_hidden_row() {
    let (sales, session) = reader().await;
    let hidden = sales.id("US-1").await;
    // Deleted concurrently: invisible.
    session.run("begin; update crm.customers set deleted_at = now() where external_key = 'EU-1'").await;
    sales.admin.run(&format!("update crm.customers set deleted_at = now() where id = '{hidden}'")).await;
    let dead = "select count(*) from crm.customers where deleted_at is not null";
    assert_eq!(session.text(dead, &[]).await, "0");
    session.run("rollback").await;
    // A deletion that fails is not in progress afterwards.
    session.run("begin; savepoint s").await;
    let fails = "update crm.customers set deleted_at = now(), region = 'US' where external_key = 'EU-1'";
    assert_eq!(session.error(fails, &[]).await.state, "42501");
    session.run("rollback to s").await;
    assert_eq!(
        session
            .text("select keyed.is_being_deleted(id) from crm.customers where external_key = 'EU-2'", &[])
            .await,
        "f"
    );
    assert_eq!(session.text(dead, &[]).await, "0");
    session.run("update crm.customers set deleted_at = now() where external_key = 'EU-2'").await;
    assert_eq!(session.text(dead, &[]).await, "0");
    session.run("commit").await;
}
