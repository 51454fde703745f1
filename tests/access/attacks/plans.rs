//! Plans that are cached or shared with parallel workers: each execution checks its own role.

use crate::sales::{Sales, of_region};
use harness::{Session, major_version};
use serde_json::json;

const KEYS: &str = "select string_agg(external_key, ' ' order by external_key) from crm.customers";

/// A session that can switch between two roles: one reads Europe by a plain scope, the other America by a scope through
/// a reference.
async fn with_two() -> (Sales, Session, [(String, &'static str); 2]) {
    let sales = Sales::new().await;
    let (european, _) = sales.clerk("read", &of_region("EU")).await;
    let behind = json!({"field": "company.region", "operator": "eq", "value": "US"});
    let (american, _) = sales.clerk("read", &behind).await;
    let login = sales.database.create_role("report").await;
    sales.admin.run(&format!("alter role {login} noinherit; grant {european}, {american} to {login}")).await;
    let session = sales.database.session_as(&login).await;
    (sales, session, [(european, "EU-1 EU-2"), (american, "US-1 US-2")])
}

#[tokio::test]
async fn generic_plan_returns_each_role_its_own_rows() {
    let (_sales, session, roles) = with_two().await;
    let search = "(select string_agg(r ->> 'external_key', ' ' order by r ->> 'external_key') from jsonb_array_elements(keyed.search('crm.customers', $1::jsonb) -> 'records') r)";
    for mode in ["force_generic_plan", "force_custom_plan", "auto"] {
        session.run(&format!("set role {}", roles[0].0)).await;
        session.run(&format!("deallocate all; set plan_cache_mode = {mode}")).await;
        session.run(&format!("prepare plain (text) as {KEYS} where external_key <> $1")).await;
        session.run(&format!("prepare by_function (text) as select {search}")).await;
        session
            .run("prepare one (text) as select keyed.get_by_key('crm.customers', $1) ->> 'external_key'")
            .await;
        for _ in 0..8 {
            for (role, expected) in &roles {
                session.run(&format!("set role {role}")).await;
                assert_eq!(session.text("execute plain('x')", &[]).await, *expected, "{mode}");
                assert_eq!(session.text("execute by_function('{}')", &[]).await, *expected, "{mode}");
                for key in ["EU-1", "US-1"] {
                    let is_seen = session.attempt(&format!("execute one('{key}')"), &[]).await.is_ok();
                    assert_eq!(is_seen, expected.contains(key), "{mode} {role} {key}");
                }
            }
        }
        session.run("reset role").await;
    }
}

#[tokio::test]
async fn each_statement_of_a_transaction_checks_privileges() {
    let (_sales, session, roles) = with_two().await;
    session
        .run("create function pg_temp.keys() returns text language plpgsql stable as
              $$ begin return (select string_agg(external_key, ' ' order by external_key) from crm.customers); end $$")
        .await;
    session.run("begin").await;
    for (role, expected) in roles.iter().cycle().take(6) {
        session.run(&format!("set local role {role}")).await;
        assert_eq!(session.text(KEYS, &[]).await, *expected);
    }
    session.run("rollback").await;
}

#[tokio::test]
async fn parallel_workers_honor_the_scope() {
    let (sales, session, roles) = with_two().await;
    sales.admin.run("insert into crm.customers (external_key, region, company)
                     select c.region || '+' || n, c.region, c.id from crm.companies c, generate_series(1, 2000) n").await;
    sales.admin.run("analyze crm.customers").await;
    let always = if major_version() < 16 { "force_parallel_mode" } else { "debug_parallel_query" };
    session
        .run(&format!(
            "set {always} = on; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
              set min_parallel_table_scan_size = 0; set max_parallel_workers_per_gather = 2"
        ))
        .await;
    for (role, expected) in &roles {
        session.run(&format!("set role {role}")).await;
        let plan = session
            .rows("explain (costs off) select count(*) from crm.customers where name is null", &[])
            .await;
        assert!(format!("{plan:?}").contains("Gather"), "{plan:?}");
        let region = &expected[..2];
        let counts = "select count(*) || ' ' || count(*) filter (where region = $1) from crm.customers";
        assert_eq!(session.text(counts, &[region]).await, "2002 2002");
        let search =
            "select keyed.search('crm.customers', '{\"count\": \"exact\", \"limit\": 1}') ->> 'total'";
        assert_eq!(session.text(search, &[]).await, "2002");
    }
}
