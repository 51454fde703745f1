//! Corrections of series are writes of the record.

use crate::sales::{Sales, of_region};
use serde_json::json;

#[tokio::test]
async fn correction_keeps_the_record_within_the_scope_of_its_latest_value() {
    let sales = Sales::new().await;
    let (_, session) =
        sales.clerk("read, update", &json!({"field": "mood", "operator": "lt", "value": 10})).await;
    let id = sales.id("EU-1").await;
    let earlier = "select keyed.replace_metric_points($1, 'mood', '[{\"at\": \"2020-01-01T00:00:00Z\", \"value\": 50}]')";
    sales.admin.rows(earlier, &[&id]).await;
    let before = sales.state().await;
    for statement in [
        "select keyed.delete_metric_points($1, 'mood', \"from\" => '2021-01-01T00:00:00Z')",
        "select keyed.delete_metric_points($1, 'mood', \"from\" => '2000-01-01T00:00:00Z')",
        "select keyed.replace_metric_points($1, 'mood', '[{\"at\": \"2999-01-01T00:00:00Z\", \"value\": 10}]')",
        "select keyed_http.delete_metric_points($1, 'mood', null, '2021-01-01T00:00:00Z', null)",
    ] {
        assert_eq!(session.error(statement, &[&id]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    assert_eq!(sales.state().await, before);
    let within = "select keyed.delete_metric_points($1, 'mood', \"to\" => '2021-01-01T00:00:00Z')";
    assert_eq!(session.json(within, &[&id]).await["deleted"], 1);
}

#[tokio::test]
async fn correction_without_a_new_latest_value_needs_the_scope_of_updates() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, update", &of_region("EU")).await;
    let reader = sales.database.create_role("reader").await;
    sales.database.grant(&reader, "crm.customers", "read").await;
    sales.admin.run(&format!("grant {reader} to {role}")).await;
    let before = sales.state().await;
    for statement in [
        "select keyed.delete_metric_points($1, 'mood', \"to\" => '2021-01-01T00:00:00Z')",
        "select keyed.replace_metric_points($1, 'mood', '[{\"at\": \"2020-01-01T00:00:00Z\", \"value\": 1}]')",
    ] {
        let error = session.error(statement, &[&sales.id("US-1").await]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{statement}");
        let deleted = session.error(statement, &[&sales.id("EU-0").await]).await;
        assert_eq!(deleted.codes().1, "not_found", "{statement}");
    }
    assert_eq!(sales.state().await, before);
    let allowed = "select keyed.delete_metric_points($1, 'mood', \"to\" => '2021-01-01T00:00:00Z')";
    session.json(allowed, &[&sales.id("EU-1").await]).await;
}
