//! Views show each reader the records that it can read, by SQL and by searches.

use crate::sales::{Sales, of_region, selected};
use harness::Session;
use serde_json::json;

const VIEW: &str = r#"select keyed.save_view('crm.customers', 'first', '{"filters": [{"field": "external_key", "operator": "like", "value": "-1"}]}')"#;

/// The keys that a session reads from a view by SQL. Asserts that a search within the view finds the same.
async fn view_keys(session: &Session, slug: &str) -> String {
    let keys = "select coalesce(string_agg(external_key, ' ' order by external_key), '')";
    let selected = session.text(&format!("{keys} from crm.customers__{slug}"), &[]).await;
    let search = format!(
        "{keys} from jsonb_to_recordset(keyed.search('crm.customers', '{{\"view\": \"{slug}\"}}') -> 'records') r (external_key text)"
    );
    assert_eq!(session.text(&search, &[]).await, selected, "search and SELECT");
    selected
}

#[tokio::test]
async fn view_returns_the_records_of_each_role() {
    let sales = Sales::new().await;
    let (_, before) = sales.clerk("read", &of_region("EU")).await;
    sales.admin.run(VIEW).await;
    let (_, after) = sales.clerk("read", &of_region("US")).await;
    assert_eq!(view_keys(&sales.admin, "first").await, "EU-1 US-1");
    assert_eq!(view_keys(&before, "first").await, "EU-1", "granted before the view was made");
    assert_eq!(view_keys(&after, "first").await, "US-1", "granted after it");
    let (whole, session) = sales.member().await;
    sales.database.grant(&whole, "crm", "read").await;
    assert_eq!(view_keys(&session, "first").await, "EU-1 US-1");
}

#[tokio::test]
async fn views_are_hidden_without_read() {
    let sales = Sales::new().await;
    sales.admin.run(VIEW).await;
    let (role, session) = sales.member().await;
    let statements = [
        "select from crm.customers__first",
        "select keyed.search('crm.customers', '{\"view\": \"first\"}')",
        "select keyed.list_views('crm.customers')",
        "select keyed.get_view('crm.customers', 'first')",
        "select from keyed_state.view",
    ];
    for statement in statements {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
    sales.database.grant(&role, "crm.customers", "create, update, delete").await;
    for statement in statements {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
    sales.database.grant(&role, "crm.customers", "read").await;
    assert_eq!(view_keys(&session, "first").await, "EU-1 US-1");
    sales.database.revoke(&role, "crm.customers").await;
    for statement in statements {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
    let left = "select count(*) from pg_shdepend where refobjid = $1::regrole and dbid <> 0";
    assert_eq!(sales.admin.text(left, &[&role]).await, "0", "no object depends on a role without grants");
}

#[tokio::test]
async fn direct_grant_without_a_policy_shows_no_row() {
    let sales = Sales::new().await;
    sales.admin.run(VIEW).await;
    let (role, session) = sales.member().await;
    sales
        .admin
        .run(&format!("grant usage on schema crm to {role}; grant select on crm.customers__first to {role}"))
        .await;
    assert_eq!(session.error("select from crm.customers__first", &[]).await.state, "42501");
    sales.admin.run(&format!("grant select on crm.customers to {role}")).await;
    assert_eq!(session.text("select count(*) from crm.customers__first", &[]).await, "0");
    sales.admin.run(&format!("revoke all on crm.customers, crm.customers__first from {role}; revoke usage on schema crm from {role}")).await;
}

#[tokio::test]
async fn recreated_view_keeps_its_readers() {
    let sales = Sales::new().await;
    sales.admin.run(VIEW).await;
    let (_, session) = sales.clerk("read", &of_region("EU")).await;
    sales.admin.run("select keyed.drop_attribute('crm.customers', 'seen')").await;
    assert_eq!(view_keys(&session, "first").await, "EU-1");
    sales.admin.run("select keyed.alter_attribute('crm.customers', 'region', '{\"slug\": \"area\"}')").await;
    assert_eq!(view_keys(&session, "first").await, "EU-1");
    assert_eq!(selected(&session).await, "EU-1 EU-2");
}

#[tokio::test]
async fn define_allows_saving_views_only() {
    let sales = Sales::new().await;
    let (definer, session) = sales.member().await;
    sales.database.grant(&definer, "crm.customers", "define").await;
    session.run(VIEW).await;
    session.run("select keyed.get_view('crm.customers', 'first')").await;
    let read = session.error("select from crm.customers__first", &[]).await;
    assert_eq!(read.state, "42501", "define does not include read");
    // Targets of references stay hidden without the privilege to read them.
    let behind =
        json!({"filters": [{"field": "company.region", "operator": "eq", "value": "EU"}]}).to_string();
    let error = session.error("select keyed.save_view('crm.customers', 'eu', $1)", &[&behind]).await;
    assert_eq!((error.codes().1, error.pointers()), ("unknown_field", vec!["/query/filters/0/field"]));
    let (_, reader) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    for statement in [VIEW, "select keyed.drop_view('crm.customers', 'first')"] {
        assert_eq!(reader.error(statement, &[]).await.codes(), ("42501", "forbidden"));
    }
    session.run("select keyed.drop_view('crm.customers', 'first')").await;
}

#[tokio::test]
async fn view_reads_other_templates_as_its_reader() {
    let sales = Sales::new().await;
    let query = json!({"filters": [{"field": "company.name", "operator": "starts-with", "value": "Acme"}]})
        .to_string();
    sales.admin.rows("select keyed.save_view('crm.customers', 'acme', $1)", &[&query]).await;
    let (role, session) = sales.clerk("read", &json!({"field": "id", "operator": "not-empty"})).await;
    assert_eq!(session.error("select from crm.customers__acme", &[]).await.state, "42501");
    let error = session.error("select keyed.search('crm.customers', '{\"view\": \"acme\"}')", &[]).await;
    assert_eq!((error.codes().1, error.pointers()), ("unknown_field", vec!["/view"]));
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("US")).await;
    assert_eq!(view_keys(&session, "acme").await, "", "a hidden company has no name");
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    assert_eq!(view_keys(&session, "acme").await, "EU-1 EU-2");
}

#[tokio::test]
async fn presentation_discloses_no_hidden_target() {
    let sales = Sales::new().await;
    sales.admin.run("select keyed.save_view('crm.customers', 'bi', '{}', presentation => true)").await;
    let companies = "select coalesce(string_agg(company || '=' || company__key, ' ' order by external_key), '') from crm.customers__bi";
    assert_eq!(sales.admin.text(companies, &[]).await, "Acme=C-EU Acme=C-EU Globex=C-US Globex=C-US");
    let (role, session) = sales.clerk("read", &json!({"field": "id", "operator": "not-empty"})).await;
    let error = session.error(companies, &[]).await;
    assert_eq!(error.state, "42501", "without read on what it shows");
    let customers = "select count(*) from crm.customers__bi where company__id is not null";
    assert_eq!(session.error(customers, &[]).await.state, "42501");
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("US")).await;
    let seen = session.text(companies, &[]).await;
    assert_eq!(seen, "Globex=C-US Globex=C-US", "a hidden company has no name and no key");
    assert_eq!(session.text(customers, &[]).await, "4", "the customer's value is the id of a hidden company");
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    assert_eq!(session.text(companies, &[]).await, "Acme=C-EU Acme=C-EU");
}
