//! Definitions by roles that cannot read every record.

use crate::sales::{Sales, of_region};
use serde_json::json;

#[tokio::test]
async fn dry_run_counts_values_only_for_unscoped_readers() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    sales.database.grant(&role, "crm.customers", "define").await;
    let drop = "select keyed.drop_attribute('crm.customers', 'amount', true)";
    let plan = session.json(drop, &[]).await;
    assert_eq!(plan["dropped"], json!([{"slug": "amount", "records": null}]));
    sales.database.grant(&role, "crm.customers", "read").await;
    let plan = session.json(drop, &[]).await;
    assert_eq!(plan["dropped"], json!([{"slug": "amount", "records": 4}]));
}

#[tokio::test]
async fn dry_run_needs_the_privilege_of_the_change() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    for statement in [
        "select keyed.create_template('crm', 'orders', dry_run => true)",
        "select keyed.alter_template('crm.customers', '{}', true)",
        "select keyed.add_attribute('crm.customers', '{\"slug\": \"x\", \"type\": \"date\"}', true)",
        "select keyed.alter_attribute('crm.customers', 'name', '{}', true)",
        "select keyed.drop_attribute('crm.customers', 'name', true)",
    ] {
        assert_eq!(session.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    // A role of another template gets no information about this one.
    sales.database.grant(&role, "crm.companies", "define").await;
    let drop = "select keyed.drop_attribute('crm.customers', 'amount', true)";
    assert_eq!(session.error(drop, &[]).await.codes(), ("42501", "forbidden"));
}
