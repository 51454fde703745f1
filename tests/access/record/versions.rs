//! Preconditions disclose nothing about invisible records.

use crate::sales::{Sales, of_region};
use harness::Proxy;
use serde_json::json;

#[tokio::test]
async fn precondition_on_an_invisible_record_discloses_nothing() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let (id, deleted) = (sales.id("US-1").await, sales.id("US-0").await);
    let of = async |id: &str| sales.admin.text("select keyed.record_version($1)", &[id]).await;
    let versions = [of(&id).await, of(&deleted).await, "0123".to_owned(), "*".to_owned()];
    let before = sales.state().await;
    for version in &versions {
        for (statement, id) in [
            ("select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}', $2)", &id),
            ("select keyed.patch_record($1, '{}', $2)", &id),
            ("select keyed.replace_attributes($1, '{\"region\": \"EU\"}', $2)", &id),
            ("select keyed.delete_record($1, $2)", &id),
            ("select keyed.restore_record($1, '{}', $2)", &deleted),
            ("select keyed_http.delete_by_key('2', 'US-1', $2)", &id),
            ("select keyed.set_embedding($1, null, $2)", &id),
        ] {
            let error = session.error(statement, &[id, version]).await;
            assert_eq!(error.codes(), ("P0002", "not_found"), "{statement} {version}");
        }
        // Errors report that a key is taken, but not by which record or in which state.
        for conditions in ["if_match => $1", "if_none_match => $1", "if_match => $1, if_none_match => '*'"] {
            let upsert = format!(
                "select keyed.upsert_by_key('crm.customers', 'US-1', '{{\"region\": \"EU\"}}', {conditions})"
            );
            let error = session.error(&upsert, &[version]).await;
            assert_eq!(error.codes(), ("23505", "external_key_taken"), "{conditions} {version}");
            assert_eq!(error.detail.get("existing_id"), None);
        }
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn update_without_the_privilege_discloses_no_state() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("update, delete", &of_region("EU")).await;
    sales.database.grant(&role, "crm.customers", "read").await;
    let id = sales.id("US-1").await;
    for statement in [
        "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}', '0123')",
        "select keyed.delete_record($1, '0123')",
    ] {
        assert_eq!(session.error(statement, &[&id]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
}

#[tokio::test]
async fn caller_without_read_cannot_read_or_test_versions() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("create, update", &of_region("EU")).await;
    let id = sales.id("EU-1").await;
    let version = sales.admin.text("select keyed.record_version($1)", &[&id]).await;
    let patch = "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"x\"}}', $2)";
    for candidate in [version.as_str(), "0123"] {
        assert_eq!(session.error(patch, &[&id, candidate]).await.codes(), ("42501", "forbidden"));
    }
    session.rows(patch, &[&id, "*"]).await;
    assert_eq!(session.error("select keyed.record_version($1)", &[&id]).await.state, "42501");

    let proxy = Proxy::start(&sales.database).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let path = format!("/v1/entities/{id}");
    let body = json!({"attributes": {"name": "y"}});
    let response = proxy.request("PATCH", &path).key(&key).json(&body).response().await;
    assert!(response.status() == 200 && !response.headers().contains_key("etag"), "{response:?}");
    assert_eq!(response.text().await.expect("a body"), json!({"id": id}).to_string());
}
