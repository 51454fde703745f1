//! Synonyms, for callers that can read some records or none.

use crate::sales::{Sales, found};
use serde_json::json;

const SETS: &str =
    r#"{"synonyms": [{"synonyms": ["acme", "globex"]}, {"synonyms": ["customer", "client"]}]}"#;

#[tokio::test]
async fn synonyms_find_only_visible_records() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    sales.admin.rows("select keyed.alter_template('crm.customers', $1)", &[SETS]).await;
    assert_eq!(found(&session, json!({"global_search": "clients"})).await, "EU-1 EU-2");
    assert_eq!(found(&session, json!({"global_search": "client -globex"})).await, "", "customers of Acme");
    let (role, clerk) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read").await;
    for words in ["acme", "globex", "\"acme\""] {
        assert_eq!(found(&clerk, json!({"global_search": words})).await, "", "no names are visible: {words}");
    }
}

#[tokio::test]
async fn synonyms_need_the_define_privilege() {
    let sales = Sales::new().await;
    let session = sales.european("read, create, update, delete").await;
    let alter = "select keyed.alter_template('crm.customers', $1)";
    assert_eq!(session.error(alter, &[SETS]).await.state, "42501");
    let (role, definer) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read, define").await;
    definer.rows(alter, &[SETS]).await;
    assert_eq!(found(&definer, json!({"global_search": "client eu-1"})).await, "EU-1");
}
