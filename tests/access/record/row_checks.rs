//! The cost of a write under a scope through a reference: it reads only the records that its rows reference.

use harness::{Database, Session};
use serde_json::json;
use std::time::Duration;

/// Companies, of which half are in each region, and customers of the first ones.
const FILL: &str = r#"
    select keyed.create_project('crm');
    select keyed.create_template('crm', 'companies', '[{"slug": "region", "type": "string"}, {"slug": "note", "type": "string"}]');
    select keyed.create_template('crm', 'customers', '[
      {"slug": "region", "type": "string"}, {"slug": "amount", "type": "number"},
      {"slug": "company", "type": "reference", "template": "companies"}
    ]');
    insert into crm.companies (external_key, region, note)
      select 'C' || n, case n % 2 when 0 then 'EU' else 'US' end, repeat('x', 500) from generate_series(1, 2000) n;
    insert into crm.customers (external_key, region, company)
      select 'K' || n, 'EU', (select id from crm.companies where external_key = 'C' || 2 * n) from generate_series(1, 60) n;
    analyze crm.companies, crm.customers"#;

const OWN: &str = "region";
const BEHIND: &str = "company.region";

/// A login with a scope on this field, with which it can read all customers.
async fn login(database: &Database, name: &str, field: &str) -> Session {
    let login = database.create_role(name).await;
    let scope = json!([{"field": field, "operator": "neq", "value": "US"}]);
    database.grant_within(&login, "crm.customers", "read, create, update, delete", &scope).await;
    database.grant(&login, "crm.companies", "read").await;
    database.session_as(&login).await
}

/// The pages that a statement and its functions read in their second execution.
async fn pages(session: &Session, statement: &str) -> u64 {
    let explain = format!("explain (analyze, buffers, timing off, format json) {statement}");
    session.run(&format!("begin; {explain}; rollback")).await;
    session.run("begin").await;
    let explained = session.json(&explain, &[]).await;
    session.run("rollback").await;
    let plan = &explained[0]["Plan"];
    ["Shared Hit Blocks", "Shared Read Blocks"].iter().filter_map(|name| plan[*name].as_u64()).sum()
}

fn batch(operation: &str) -> String {
    format!(
        "select keyed.batch(jsonb_agg(jsonb_build_object('op', '{operation}', 'template', 'crm.customers', 'external_key', 'K' || n,
           'attributes', jsonb_build_object('amount', n)))) from generate_series(1, 50) n"
    )
}

#[tokio::test]
async fn write_under_a_reference_scope_reads_only_its_targets() {
    let database = Database::new().await;
    let admin = database.session().await;
    admin.run(FILL).await;
    let (own, behind) = (login(&database, "own", OWN).await, login(&database, "behind", BEHIND).await);
    let patch = "select keyed.patch_record(id, '{\"attributes\": {\"amount\": 2}}') from (select id from crm.customers limit 20) t";
    let single = "select keyed.upsert_by_key('crm.customers', 'K' || n, '{\"amount\": 3}') from generate_series(1, 50) n";
    for statement in
        [&batch("update"), &batch("upsert"), "update crm.customers set amount = 1", patch, single]
    {
        let (cheap, dear) = (pages(&own, statement).await, pages(&behind, statement).await);
        // The policies of plain SQL collect a set, once per statement.
        let table: u64 = admin
            .text("select relpages from pg_class where oid = 'crm.companies'::regclass", &[])
            .await
            .parse()
            .expect("a number");
        assert!(table > 100, "{table} pages");
        assert!(dear <= 2 * cheap + 4 * table, "{dear} pages instead of {cheap}: {statement}");
    }
}

#[tokio::test]
async fn row_check_is_not_compiled_for_each_row() {
    let database = Database::new().await;
    let admin = database.session().await;
    admin.run(FILL).await;
    let mut took = [Duration::ZERO; 2];
    for (jit, took) in ["on", "off"].iter().zip(&mut took) {
        let session = login(&database, jit, BEHIND).await;
        // Any plan costs more than jit_above_cost.
        session.run("set enable_seqscan = off; set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off").await;
        session.run(&format!("set jit = {jit}")).await;
        session.run("begin; update crm.customers set amount = 1; rollback").await;
        let before = session.processor_time().await;
        session.run("begin; update crm.customers set amount = 2; rollback").await;
        *took = session.processor_time().await.saturating_sub(before);
    }
    let [compiled, interpreted] = took;
    // Only the user's own statement is compiled, once.
    assert!(compiled < 2 * interpreted + Duration::from_secs(3), "{compiled:?} instead of {interpreted:?}");
}

#[tokio::test]
async fn reference_conditions_are_planned_separately() {
    let database = Database::new().await;
    let admin = database.session().await;
    admin.run(FILL).await;
    let many: Vec<_> = (0..40)
        .map(|number| json!({"field": BEHIND, "operator": "neq", "value": format!("region {number}")}))
        .collect();
    let role = database.create_role("many").await;
    database.grant_within(&role, "crm.customers", "read, create, update", &json!(many)).await;
    database.grant(&role, "crm.companies", "read").await;
    let session = database.session_as(&role).await;
    // With these settings, the planner would try all orders of forty joins, which does not terminate.
    session.run("set join_collapse_limit = 1000; set from_collapse_limit = 1000; set geqo = off; set statement_timeout = '50s'").await;
    let lookup = "select keyed.get_by_key('crm.customers', 'K7') ->> 'external_key'";
    assert_eq!(session.text(lookup, &[]).await, "K7");
    let upsert = "select created from keyed.upsert_by_key('crm.customers', 'K7', '{\"amount\": 7}')";
    assert_eq!(session.text(upsert, &[]).await, "f");
    let search = "select keyed.search('crm.customers', '{\"count\": \"exact\", \"limit\": 1}') ->> 'total'";
    assert_eq!(session.text(search, &[]).await, "60");
}
