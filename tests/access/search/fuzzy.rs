//! Invisible terms do not affect fuzzy searches.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::{Value, json};

async fn search(session: &Session, words: &str) -> Value {
    let query = json!({"global_search": words, "fuzzy": "auto"}).to_string();
    session.json("select keyed.search('crm.customers', $1)", &[&query]).await
}

#[tokio::test]
async fn fuzzy_search_uses_no_invisible_terms() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    sales
        .admin
        .run(
            "update crm.customers set name = 'zeppelin zeppeling' where external_key = 'US-1';
              update crm.customers set name = 'zeppelins' where external_key = 'EU-1'",
        )
        .await;
    let search = async |session: &Session, words: &str| {
        let result = search(session, words).await;
        let found = result["records"].as_array().expect("records").len();
        (found, result.get("did_you_mean").cloned().unwrap_or_default())
    };
    for (words, all, seen) in [
        ("zeppelon", (2, json!("zeppelin")), (0, Value::Null)),
        ("zeppelinz", (2, json!("zeppelin")), (1, json!("zeppelins"))),
        ("globbex", (2, json!("Globex")), (0, Value::Null)),
        ("acmee", (2, json!("Acme")), (2, json!("Acme"))),
        ("acmmee", (0, Value::Null), (0, Value::Null)),
    ] {
        assert_eq!(search(&sales.admin, words).await, all, "{words}");
        assert_eq!(search(&session, words).await, seen, "{words}");
    }
}

#[tokio::test]
async fn invisible_record_does_not_validate_a_word() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    sales
        .admin
        .run(
            "update crm.customers set name = 'lantern sapphire' where external_key = 'EU-1';
              update crm.customers set name = 'lantarn sapphire' where external_key = 'EU-2'",
        )
        .await;
    let before = search(&session, "lantern sapphira").await;
    assert_eq!(
        before["records"].as_array().map(Vec::len),
        Some(1),
        "the first word is spelled correctly: {before}"
    );
    let hidden = "update crm.customers set name = 'sapphira' where external_key = 'US-1'";
    sales.admin.run(hidden).await;
    assert_eq!(search(&session, "lantern sapphira").await, before);
}
