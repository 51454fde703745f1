//! Definitions of webhook endpoints.

use super::{alter, claim, create, deliver, deliveries, endpoint, queue, with_endpoint};
use harness::Database;
use serde_json::{Value, json};

const CREATE: &str = "select keyed.create_webhook_endpoint('crm', $1)";

#[tokio::test]
async fn endpoint_shows_its_secret_once() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let made = create(&session, "shop", json!({"templates": ["customers"], "operations": ["create"]})).await;
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    assert!(secret.starts_with("whsec_"));
    assert_eq!((&made["project"], &made["role"]), (&json!("crm"), &json!("keyed_admin")));
    assert_eq!((&made["templates"], &made["operations"]), (&json!(["customers"]), &json!(["create"])));
    let shown = endpoint(&session, "shop").await;
    assert!(shown.get("secret").is_none() && !shown.to_string().contains(&secret));
    // A client can send back what it has read.
    let same = alter(&session, &made["id"], shown.clone()).await;
    assert_eq!((&same["url"], &same["templates"]), (&shown["url"], &shown["templates"]));
    session.run("select keyed.drop_webhook_endpoint(1)").await;
    assert_eq!(session.json("select keyed.list_webhook_endpoints()", &[]).await, json!({"endpoints": []}));
    assert_eq!(session.error("select keyed.drop_webhook_endpoint(1)", &[]).await.codes().1, "not_found");
}

#[tokio::test]
async fn invalid_definition_is_rejected_with_its_pointer() {
    let (_database, session) = with_endpoint(json!({})).await;
    let with = |more: Value| {
        let mut definition = json!({"slug": "other", "url": "https://example.com"});
        definition.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        definition.to_string()
    };
    let filter = json!({"filters": [{"field": "visits", "operator": "gt", "value": 5}]});
    let unknown = json!({"filters": [{"field": "nothing", "operator": "gt", "value": 5}]});
    for (definition, pointer) in [
        (json!({"url": "https://example.com"}).to_string(), "/slug"),
        (json!({"slug": "other"}).to_string(), "/url"),
        (with(json!({"slug": "shop"})), "/slug"),
        (with(json!({"url": "https://user:secret@example.com"})), "/url"),
        (with(json!({"url": "https://0x7f000001/"})), "/url"),
        (with(json!({"templates": ["customers", "nothing"]})), "/templates/1"),
        (with(json!({"filter": filter})), "/filter"),
        (with(json!({"filter": filter, "templates": ["customers", "companies"]})), "/filter"),
        (with(json!({"filter": unknown, "templates": ["customers"]})), "/filter/filters/0/field"),
        (with(json!({"role": "nobody"})), "/role"),
        (with(json!({"secret": "short"})), "/secret"),
        (with(json!({"token": "x"})), "/token"),
    ] {
        let error = session.error(CREATE, &[&definition]).await;
        assert_eq!(error.pointers(), [pointer], "{definition}: {error}");
        assert!(!error.to_string().contains("user:secret"), "{error}");
    }
}

#[tokio::test]
async fn both_secrets_sign_for_a_day_after_a_rotation() {
    let (_database, session) = with_endpoint(json!({})).await;
    let first = create(&session, "other", json!({"enabled": false})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    let shop = endpoint(&session, "shop").await;
    let rotated = alter(&session, &shop["id"], json!({"rotate_secret": true})).await;
    assert!(rotated["previous_secret_until"].is_string());
    assert_ne!(rotated["secret"], first["secret"]);
    queue(&session).await;
    let secrets = |claim: &Value| deliveries(claim)[0]["secrets"].as_array().expect("secrets").clone();
    let both = secrets(&claim(&session, 1).await);
    assert_eq!((both.len(), &both[0]), (2, &rotated["secret"]));
    session
        .run(
            "update keyed_state.webhook_endpoint set previous_secret_until = now();
             update keyed_state.webhook_delivery set due_at = now()",
        )
        .await;
    assert_eq!(secrets(&claim(&session, 1).await), [rotated["secret"].clone()]);
    assert_eq!(endpoint(&session, "shop").await["previous_secret_until"], Value::Null);
}

#[tokio::test]
async fn templates_and_operations_select_changes() {
    let more = json!({"templates": ["customers"], "operations": ["create", "delete"]});
    let (_database, session) = with_endpoint(more).await;
    session
        .run(
            "insert into crm.customers (external_key) values ('a');
             update crm.customers set visits = 1;
             update crm.customers set deleted_at = now();
             insert into crm.companies (external_key, name) values ('C-1', 'Acme')",
        )
        .await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created a", "record.deleted a"]);
}

#[tokio::test]
async fn start_from_now_discards_pending_deliveries() {
    let (_database, session) = with_endpoint(json!({})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    queue(&session).await;
    session.run("insert into crm.customers (external_key) values ('b')").await;
    let shop = endpoint(&session, "shop").await;
    assert_eq!(alter(&session, &shop["id"], json!({"from": "now"})).await["pending"], 0);
    session.run("insert into crm.customers (external_key) values ('c')").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created c"]);
    alter(&session, &shop["id"], json!({"from": "start"})).await;
    queue(&session).await;
    let mut all = deliver(&session).await;
    all.sort();
    assert_eq!(all, ["record.created a", "record.created b", "record.created c"]);
}

#[tokio::test]
async fn only_administrators_use_endpoints() {
    let (database, _) = with_endpoint(json!({})).await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read,create,update,delete,define").await;
    let clerk = database.session_as(&role).await;
    for call in [
        "keyed.create_webhook_endpoint('crm', '{}')",
        "keyed.list_webhook_endpoints()",
        "keyed.alter_webhook_endpoint(1, '{}')",
        "keyed.drop_webhook_endpoint(1)",
        "keyed.drop_webhook_endpoint(2)",
        "keyed.test_webhook_endpoint(1)",
        "keyed.webhook_deliveries(1)",
        "keyed.replay_webhook_delivery(gen_random_uuid())",
        "keyed_http.queue_webhooks()",
        "keyed_http.claim_webhooks(1, 60)",
        "keyed_http.finish_webhook(gen_random_uuid()::text, gen_random_uuid()::text, 200, null, null, null, 1)",
    ] {
        let error = clerk.error(&format!("select {call}"), &[]).await;
        assert_eq!(error.state, "42501", "{call}: {error}");
    }
}
