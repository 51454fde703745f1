//! Values that a record keeps, for callers that can read only a part of it.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::json;

/// Every way to write attributes to the customer with an id ($1) and a key ($2).
const WRITES: [&str; 6] = [
    "select keyed.patch_record($1, jsonb_build_object('attributes', $3::jsonb))",
    "select keyed.upsert_by_key('crm.customers', $2, $3)",
    "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'update', 'id', $1, 'attributes', $3::jsonb)), true)",
    "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'upsert', 'template', 'crm.customers', \
       'external_key', $2, 'attributes', $3::jsonb)), true)",
    "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', $2, 'attributes', $3::jsonb)::text, 'update', true)",
    "select keyed.replace_attributes($1, '{\"region\": \"EU\"}'::jsonb || $3::jsonb)",
];

async fn company(sales: &Sales, key: &str) -> String {
    sales.admin.text("select id from crm.companies where external_key = $1", &[key]).await
}

async fn expect(session: &Session, writes: &[&str], values: &[&str], expected: Option<(&str, &str)>) {
    for write in writes {
        let outcome = session.attempt(write, values).await;
        let code = outcome.as_ref().err().map(|error| error.codes());
        assert_eq!(code, expected, "{write} with {values:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn hidden_target_is_kept_only_in_its_record() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, create, update", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("US")).await;
    let (id, other) = (sales.id("EU-1").await, sales.id("EU-2").await);
    let (hidden, seen) = (company(&sales, "C-EU").await, company(&sales, "C-US").await);
    sales
        .admin
        .run("insert into crm.companies (external_key, name, region) values ('C-EU-2', 'Initech', 'EU')")
        .await;
    let unknown = company(&sales, "C-EU-2").await;
    let missing = unknown.replace('f', "0").replace('7', "8");
    sales
        .admin
        .rows("select keyed.patch_record($1, '{\"attributes\": {\"company\": null}}')", &[&other])
        .await;

    let read = session.json("select keyed.get_record($1) -> 'attributes' -> 'company'", &[&id]).await;
    assert_eq!(read, json!(hidden), "the record shows it");
    let before = sales.state().await;
    expect(&session, &WRITES[..5], &[&id, "EU-1", &json!({"company": hidden}).to_string()], None).await;
    assert_eq!(sales.state().await, before, "nothing was written");
    // Hidden and missing targets have the same response, and the key of a kept target is not disclosed.
    let rejected = Some(("23503", "reference_not_found"));
    for target in [json!(unknown), json!(missing), json!({"external_key": "C-EU"})] {
        expect(&session, &WRITES, &[&id, "EU-1", &json!({"company": target}).to_string()], rejected).await;
    }
    expect(&session, &WRITES, &[&other, "EU-2", &json!({"company": hidden}).to_string()], rejected).await;
    assert_eq!(sales.state().await, before, "nothing was written");
    // A replaced value cannot be set again.
    expect(&session, &WRITES[..1], &[&id, "EU-1", &json!({"company": seen}).to_string()], None).await;
    expect(&session, &WRITES, &[&id, "EU-1", &json!({"company": hidden}).to_string()], rejected).await;
}

#[tokio::test]
async fn guessing_discloses_no_value() {
    let sales = Sales::new().await;
    let (hidden, shown) = (company(&sales, "C-US").await, company(&sales, "C-EU").await);
    let rejected = Some(("23503", "reference_not_found"));
    // A role that may change customers but read none.
    let (_, writer) = sales.clerk("create, update", &of_region("EU")).await;
    let id = sales.id("EU-1").await;
    for target in [&hidden, &shown] {
        expect(&writer, &WRITES, &[&id, "EU-1", &json!({"company": target}).to_string()], rejected).await;
    }
    // A role that cannot read this customer.
    let (_, european) = sales.clerk("read, create, update", &of_region("EU")).await;
    let us = sales.id("US-1").await;
    for target in [&hidden, &shown] {
        let values = [us.as_str(), "US-1", &json!({"company": target}).to_string()];
        expect(&european, &WRITES[1..2], &values, rejected).await;
        expect(&european, &WRITES[3..5], &values, rejected).await;
    }
    // A role that can read the customer but not change it gets this error, and no information about the values.
    let (role, reader) = sales.clerk("update", &of_region("US")).await;
    sales.database.grant_within(&role, "crm.customers", "read, update", &of_region("US")).await;
    sales.database.grant_within(&role, "crm.customers", "read, update", &of_region("US")).await;
    expect(&reader, &WRITES[..1], &[&us, "US-1", &json!({"company": hidden}).to_string()], None).await;
}
