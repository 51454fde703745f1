//! Searches for deleted records find those that their caller can read.

use crate::sales::{Sales, found, of_region};
use serde_json::{Value, json};

fn deleted() -> Value {
    json!({"include_deleted": true, "filters": [{"field": "deleted_at", "operator": "not-empty"}]})
}

#[tokio::test]
async fn scope_applies_to_deleted_records() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    assert_eq!(found(&session, deleted()).await, "EU-0");
    assert_eq!(found(&session, json!({"include_deleted": true})).await, "EU-0 EU-1 EU-2");
    for query in [
        json!({"include_deleted": true, "filters": [{"field": "external_key", "operator": "eq", "value": "US-0"}]}),
        json!({"include_deleted": true, "filters": [of_region("US")]}),
    ] {
        assert_eq!(found(&session, query.clone()).await, "", "{query}");
    }
    let mut counted = deleted();
    (counted["count"], counted["facets"]) = (json!("estimated"), json!(["region", "company"]));
    let result = session.json("select keyed.search('crm.customers', $1)", &[&counted.to_string()]).await;
    assert_eq!(result["total"], 1, "{result}");
    assert!(!result.to_string().contains("US"), "{result}");
}

#[tokio::test]
async fn scope_on_keys_applies_to_released_keys() {
    let sales = Sales::new().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    let (_role, session) = sales.clerk("read", &scope).await;
    assert_eq!(found(&session, deleted()).await, "EU-0");
    // A scope on a key that a live record has taken since shows that record and the deleted one that had the key.
    sales.admin.run("select keyed.create_record('crm.customers', '{\"region\": \"US\"}', 'EU-0')").await;
    assert_eq!(found(&session, json!({"include_deleted": true})).await, "EU-0 EU-0 EU-1 EU-2");
}

#[tokio::test]
async fn scope_of_live_records_hides_deleted_ones() {
    let sales = Sales::new().await;
    let (_role, session) = sales.clerk("read", &json!({"field": "deleted_at", "operator": "empty"})).await;
    assert_eq!(found(&session, deleted()).await, "");
    assert_eq!(found(&session, json!({"include_deleted": true})).await, "EU-1 EU-2 US-1 US-2");
}

#[tokio::test]
async fn revocation_hides_deleted_records_immediately() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, update", &of_region("EU")).await;
    session.run("begin").await;
    assert_eq!(found(&session, deleted()).await, "EU-0");
    sales.database.grant_within(&role, "crm.customers", "read, update", &of_region("US")).await;
    assert_eq!(found(&session, deleted()).await, "US-0", "within a transaction, too");
    session.run("commit").await;
    sales.database.revoke(&role, "crm.customers").await;
    sales.database.grant(&role, "crm.customers", "update").await;
    let error = session.error("select keyed.search('crm.customers', $1)", &[&deleted().to_string()]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn search_and_read_show_the_same_deleted_records() {
    let sales = Sales::new().await;
    for scope in [
        json!({"field": "company.name", "operator": "eq", "value": "Acme"}),
        json!({"or": [of_region("US"), {"field": "external_key", "operator": "eq", "value": "EU-0"}]}),
        json!({"not": {"field": "external_key", "operator": "eq", "value": "EU-0"}}),
    ] {
        let (role, session) = sales.clerk("read", &scope).await;
        sales.database.grant(&role, "crm.companies", "read").await;
        let mut shown = Vec::new();
        for key in ["EU-0", "EU-1", "EU-2", "US-0", "US-1", "US-2"] {
            let id = sales.id(key).await;
            if session.attempt("select keyed.get_record($1, null, false, true)", &[&id]).await.is_ok() {
                shown.push(key);
            }
        }
        assert_eq!(found(&session, json!({"include_deleted": true})).await, shown.join(" "), "{scope}");
    }
}
