//! A scope on keys, and records that have released theirs.

use crate::sales::{Sales, seen};
use serde_json::json;

#[tokio::test]
async fn scope_on_keys_applies_to_deleted_records() {
    let sales = Sales::new().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    let (_role, session) = sales.clerk("read, create, update, delete", &scope).await;
    let (eu, us) = (sales.id("EU-1").await, sales.id("US-1").await);
    for delete in [
        "update crm.customers set deleted_at = now() where external_key = 'EU-1'",
        "select keyed.delete_record(id) from crm.customers where external_key = 'EU-1'",
    ] {
        session.run(delete).await;
        assert_eq!(seen(&session).await, "EU-2", "{delete}");
        let shown = session.json("select keyed.get_record($1, null, false, true)", &[&eu]).await;
        assert_eq!(shown["external_key"], "EU-1");
        let verbose = session.json("select keyed.get_record($1, null, true, true)", &[&eu]).await;
        assert_eq!(verbose["external_key"], "EU-1");
        assert_eq!(
            session
                .text("select operation from keyed.history($1) order by version desc limit 1", &[&eu])
                .await,
            "delete"
        );
        let restored = session.json("select keyed.restore_record($1)", &[&eu]).await;
        assert_eq!(restored["external_key"], "EU-1");
    }
    sales.admin.rows("select keyed.delete_record($1)", &[&us]).await;
    for statement in [
        "select keyed.get_record($1, null, false, true)",
        "select keyed.history($1)",
        "select keyed.restore_record($1)",
        "select keyed.restore_record($1, '{\"external_key\": \"EU-9\"}')",
    ] {
        assert_eq!(session.error(statement, &[&us]).await.codes(), ("P0002", "not_found"), "{statement}");
    }
}

#[tokio::test]
async fn restore_cannot_leave_a_scope_on_keys() {
    let sales = Sales::new().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    let (_role, session) = sales.clerk("read, update, delete", &scope).await;
    let eu = sales.id("EU-1").await;
    session.rows("select keyed.delete_record($1)", &[&eu]).await;
    for body in [r#"{"external_key": "US-9"}"#, r#"{"external_key": null}"#] {
        let error = session.error("select keyed.restore_record($1, $2)", &[&eu, body]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{body}");
    }
    session.rows("select keyed.restore_record($1, '{\"external_key\": \"EU-9\"}')", &[&eu]).await;
    assert_eq!(seen(&session).await, "EU-2 EU-9");
}

#[tokio::test]
async fn delete_privilege_releases_keys_only() {
    let sales = Sales::new().await;
    let scope = json!({"field": "external_key", "operator": "like", "value": "EU"});
    let (_role, session) = sales.clerk("read, delete", &scope).await;
    for columns in ["_released_key = 'x', deleted_at = now()", "external_key = 'EU-7', deleted_at = now()"] {
        let update = format!("update crm.customers set {columns} where external_key = 'EU-1'");
        assert_eq!(session.error(&update, &[]).await.state, "42501", "{columns}");
    }
    session.run("update crm.customers set deleted_at = now() where external_key = 'EU-1'").await;
    let key = "select _released_key from crm.customers where deleted_at is not null and region = 'EU' and name = 'Customer EU-1'";
    assert_eq!(sales.admin.text(key, &[]).await, "EU-1");
}
