//! The records that an embedding worker can read and write.

use crate::sales::{Sales, of_region};
use harness::Session;
use harness::customers::VECTORS;
use serde_json::Value;

async fn embedded() -> Sales {
    let sales = Sales::new().await;
    sales.admin.run(r#"select keyed.alter_template('crm.customers', '{"embed": ["name", "region"]}')"#).await;
    sales
}

/// The texts that a session claims, sorted. The claims are released immediately.
async fn claimed(session: &Session) -> Vec<String> {
    let claim = session.json("select keyed_http.claim_embeddings('m', 100, 60)", &[]).await;
    let released = "select keyed_http.release_embeddings($1, null, 0)";
    session.rows(released, &[claim["claim"].as_str().expect("a claim")]).await;
    let entries = claim["entries"].as_array().expect("entries").iter();
    let mut inputs: Vec<String> =
        entries.map(|entry| entry["text"].as_str().expect("a text").to_owned()).collect();
    inputs.sort();
    inputs
}

#[tokio::test]
async fn worker_gets_text_that_its_role_can_read_and_update() {
    let sales = embedded().await;
    assert_eq!(claimed(&sales.admin).await.len(), 4);
    let (role, session) = sales.clerk("read", &of_region("EU")).await;
    assert_eq!(claimed(&session).await, [""; 0]);
    sales.database.grant_within(&role, "crm.customers", "update", &of_region("EU")).await;
    assert_eq!(claimed(&session).await, ["Customer EU-1\nEU", "Customer EU-2\nEU"]);
    let (_, blind) = sales.clerk("update", &of_region("EU")).await;
    assert_eq!(claimed(&blind).await, [""; 0]);
    assert_eq!(claimed(&sales.admin).await.len(), 4, "a value that others cannot get stays");
}

#[tokio::test]
async fn worker_cannot_store_vectors_of_invisible_records() {
    let sales = embedded().await;
    let worker = sales.european("read, update").await;
    let claim = sales.admin.json("select keyed_http.claim_embeddings('m', 100, 60)", &[]).await;
    let (hidden, token) = (sales.id("US-1").await, claim["claim"].as_str().expect("a claim"));
    let is_hidden = |entry: &&Value| entry["record"] == hidden.as_str();
    let entry =
        claim["entries"].as_array().and_then(|all| all.iter().find(is_hidden)).expect("it is claimed");
    let hash = entry["hash"].as_str().expect("a hash");
    let store = "select keyed_http.store_embedding($1, $2, $3, 'm', array_fill(1::real, '{768}'))";
    assert_eq!(worker.text(store, &[token, &hidden, hash]).await, "f");
    assert_eq!(sales.admin.text(&format!("select count(*) from {VECTORS}"), &[]).await, "0");
    assert_eq!(sales.admin.text(store, &[token, &hidden, hash]).await, "t");
}

#[tokio::test]
async fn stolen_proxy_login_reads_no_text() {
    let sales = embedded().await;
    let proxy = sales.database.session_as("keyed_proxy").await;
    assert_eq!(claimed(&proxy).await, [""; 0]);
    for statement in [
        "select * from keyed_state.embedding_job",
        "select * from keyed.embedding_status()",
        "select * from keyed.embedding_failures()",
        "select keyed.reembed('crm.customers')",
        "select keyed.retry_embeddings()",
    ] {
        assert_eq!(proxy.error(statement, &[]).await.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn only_administrators_see_the_progress_of_embedding() {
    let sales = embedded().await;
    let admin = sales.database.create_role("dba").await;
    sales.admin.run(&format!("grant keyed_admin to {admin}")).await;
    let admin = sales.database.session_as(&admin).await;
    let pending = "select pending from keyed.embedding_status()";
    assert_eq!(admin.text(pending, &[]).await, "4");
    assert_eq!(admin.text("select keyed.reembed('crm.customers')", &[]).await, "4");
    assert_eq!(admin.text("select keyed.retry_embeddings()", &[]).await, "0");
    let clerk = sales.european("read, create, update, delete").await;
    for statement in [pending, "select keyed.reembed('crm.customers')", "select keyed.retry_embeddings()"] {
        assert_eq!(clerk.error(statement, &[]).await.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn update_allows_setting_vectors_with_embed() {
    let sales = embedded().await;
    let (role, session) = sales.clerk("read, create, update", &of_region("EU")).await;
    let id = sales.id("EU-1").await;
    session.rows("select keyed.set_embedding($1, array_fill(1::real, array[768]))", &[&id]).await;
    let state = "select state || ' ' || by_hand from keyed_state.embedding_job where record_id = $1";
    assert_eq!(sales.admin.text(state, &[&id]).await, "done true");
    let vector = serde_json::json!(vec![0.5; 768]);
    let body = serde_json::json!({"attributes": {"amount": 7}, "embedding": vector}).to_string();
    session.rows("select keyed.patch_record($1, $2)", &[&id, &body]).await;
    let key = sales.database.api_key(&role, &["crm"]).await;
    let with_key = "select keyed_http.upsert_by_key('customers', $1, null, false) \
                    from keyed.authenticate(sha256($2::bytea), 'crm')";
    let attributes = serde_json::json!({"name": "New", "region": "EU"});
    let body = serde_json::json!({"external_key": "EU-9", "attributes": attributes, "embedding": vector});
    sales.admin.rows(with_key, &[&body.to_string(), &key]).await;
    assert_eq!(sales.admin.text(state, &[&sales.id("EU-9").await]).await, "done true");
}
