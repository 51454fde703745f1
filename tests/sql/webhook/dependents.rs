//! Endpoints follow changes of templates and attributes.

use super::{create, deliver, endpoint, queue, with_endpoint};
use serde_json::{Value, json};

fn with_filter() -> Value {
    let filter = json!({"filters": [{"field": "visits", "operator": "gt", "value": 5}]});
    json!({"templates": ["customers"], "filter": filter})
}

#[tokio::test]
async fn filter_follows_a_renamed_attribute() {
    let (_database, session) = with_endpoint(with_filter()).await;
    session
        .run("select keyed.alter_template('crm.customers', '{\"rename\": {\"visits\": \"calls\"}}')")
        .await;
    let filter = endpoint(&session, "shop").await["filter"].clone();
    assert_eq!(filter["filters"][0]["field"], "calls");
    session.run("insert into crm.customers (external_key, calls) values ('in', 9), ('out', 1)").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created in"]);
}

#[tokio::test]
async fn attribute_of_a_filter_is_not_dropped() {
    let (_database, session) = with_endpoint(with_filter()).await;
    let error = session.error("select keyed.drop_attribute('crm.customers', 'visits')", &[]).await;
    assert_eq!(error.codes().1, "conflict");
    assert!(error.message.contains("webhook endpoint \"shop\""), "{error}");
}

#[tokio::test]
async fn endpoint_of_a_dropped_template_does_not_deliver_all() {
    let (_database, session) = with_endpoint(json!({"templates": ["customers"]})).await;
    create(&session, "both", json!({"templates": ["customers", "companies"]})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    assert_eq!(queue(&session).await, 2);
    session.run("select keyed.drop_template('crm.customers', true)").await;
    session.run("insert into crm.companies (external_key, name) values ('C-1', 'Acme')").await;
    assert_eq!(queue(&session).await, 1);
    assert_eq!(deliver(&session).await, ["record.created C-1"]);
    assert_eq!(endpoint(&session, "shop").await["disabled_reason"], "its template was dropped");
    assert_eq!(endpoint(&session, "both").await["templates"], json!(["companies"]));
}
