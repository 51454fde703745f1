//! Keys of invisible records: errors report that a key is taken, but not by which record.

use crate::sales::{Sales, of_region};
use serde_json::{Value, json};

/// All operations that use the key `$2`; `$1` is a visible live record, `$3` a deleted one.
const WANTING: [&str; 11] = [
    "select keyed.create_record('crm.customers', '{\"region\": \"EU\"}', $2)",
    "select keyed.create_record('crm.customers', '{\"region\": \"EU\", \"mood\": 1}', $2)",
    "select keyed.patch_record($1, jsonb_build_object('external_key', $2))",
    "select keyed.patch_record($1, jsonb_build_object('external_key', $2, 'attributes', '{\"name\": \"x\"}'::jsonb))",
    "select keyed.restore_record($3, jsonb_build_object('external_key', $2))",
    "select keyed_http.upsert_by_key('2', jsonb_build_object('external_key', $2, 'attributes', '{\"region\": \"EU\"}'::jsonb)::text, 'create', false)",
    "select keyed.upsert_by_key('crm.customers', $2, '{\"region\": \"EU\"}')",
    "select keyed.upsert_by_key('crm.customers', $2, '{\"region\": \"EU\", \"mood\": 2}')",
    "select keyed.upsert_by_key('crm.customers', $2, '{\"region\": \"US\"}')",
    "select keyed.upsert_by_key('crm.customers', $2, '{\"amount\": {\"$inc\": 1}}')",
    "select keyed.upsert_by_key('crm.customers', $2, '{}')",
];

#[tokio::test]
async fn key_conflict_hides_an_invisible_record() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let (live, deleted, holder) = (sales.id("EU-1").await, sales.id("EU-0").await, sales.id("US-1").await);
    let before = sales.state().await;
    for statement in WANTING {
        let error = session.error(statement, &[&live, "US-1", &deleted]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{statement}");
        assert_eq!(error.detail["existing_id"], Value::Null, "{statement}");
        // A restore has its own hint.
        let advice =
            if statement.contains("restore") { "restore the record" } else { "is not visible to you" };
        assert!(error.hint.contains(advice), "{statement}: {error:?}");
        assert!(!format!("{error:?}").contains(&holder), "{error:?}");
    }
    let direct_sql = [
        "insert into crm.customers (external_key, region) values ('US-1', 'EU')",
        "update crm.customers set external_key = 'US-1' where external_key = 'EU-1'",
    ];
    for statement in direct_sql {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.state, "23505", "{statement}");
        assert!(!format!("{error:?}").contains(&holder), "{error:?}");
    }
    assert_eq!(sales.state().await, before);
}

#[tokio::test]
async fn key_conflict_names_a_visible_record() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let (live, deleted, holder) = (sales.id("EU-1").await, sales.id("EU-0").await, sales.id("EU-2").await);
    for statement in &WANTING[..6] {
        let error = session.error(statement, &[&live, "EU-2", &deleted]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"), "{statement}");
        assert_eq!(error.detail["existing_id"], json!(holder), "{statement}");
        let advice =
            if statement.contains("restore") { "restore the record" } else { "or write to that record" };
        assert!(error.hint.contains(advice), "{statement}: {error:?}");
    }
}

#[tokio::test]
async fn required_attribute_does_not_disclose_a_used_key() {
    let sales = Sales::new().await;
    sales.admin.run("select keyed.alter_attribute('crm.customers', 'name', '{\"required\": true}')").await;
    let session = sales.european("read, create, update").await;
    let upsert = "select keyed.upsert_by_key('crm.customers', $1, '{\"region\": \"EU\"}')";
    assert_eq!(session.error(upsert, &["US-1"]).await.codes(), ("23505", "external_key_taken"));
    assert_eq!(session.error(upsert, &["new"]).await.codes().0, "22023");
    session.rows(upsert, &["EU-1"]).await;
}

#[tokio::test]
async fn key_of_an_invisible_deleted_record_is_free() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update").await;
    let upsert = "select created from keyed.upsert_by_key('crm.customers', 'US-0', '{\"region\": \"EU\"}')";
    assert_eq!(session.text(upsert, &[]).await, "t");
}

#[tokio::test]
async fn key_conflict_names_no_record_without_read() {
    let sales = Sales::new().await;
    let (_, session) = sales.clerk("create, update", &of_region("EU")).await;
    for key in ["EU-1", "US-1"] {
        let create = "select keyed.create_record('crm.customers', '{\"region\": \"EU\"}', $1)";
        let error = session.error(create, &[key]).await;
        assert_eq!(error.codes(), ("23505", "external_key_taken"));
        assert_eq!(error.detail["existing_id"], Value::Null);
    }
    // For a writer, only records in its update scope exist.
    let upsert = "select created from keyed.upsert_by_key('crm.customers', $1, '{\"region\": \"EU\", \"name\": \"x\"}')";
    assert_eq!(session.text(upsert, &["EU-1"]).await, "f");
    assert_eq!(session.error(upsert, &["US-1"]).await.codes(), ("23505", "external_key_taken"));
}
