//! Privileges of inbound endpoints, and privileges on them.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::{Value, json};

const DELIVER: &str =
    "select array_to_json(keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, $2))";

/// Creates an endpoint for customers, and returns its id and its token.
async fn endpoint(session: &Session, members: Value) -> (String, String) {
    let mut definition = json!({"slug": "shop", "items": "$[*]", "external_key": "$.id", "signed": false,
                                "mapping": {"name": "$.name", "region": "$.region"}});
    for (name, value) in members.as_object().expect("members") {
        definition[name] = value.clone();
    }
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
    let made = session.json(create, &[&definition.to_string()]).await;
    let text = |member: &str| made[member].as_str().unwrap_or_default().to_owned();
    (text("id"), text("token"))
}

/// The status of a delivery, and its result.
async fn deliver(session: &Session, token: &str, payload: &Value) -> (String, Value) {
    let response = session.json(DELIVER, &[token, &payload.to_string()]).await;
    let body = serde_json::from_str(response[2].as_str().unwrap_or_default()).unwrap_or_default();
    (response[0].as_str().unwrap_or_default().to_owned(), body)
}

#[tokio::test]
async fn endpoint_writes_with_the_privileges_of_its_role() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read, create, update", &of_region("EU")).await;
    let (_, token) = endpoint(&sales.admin, json!({"role": role})).await;
    // A sender has no privileges of its own.
    let proxy = sales.database.session_as("keyed_proxy").await;
    let before = sales.state().await;
    for payload in [
        json!([{"id": "EU-1", "name": "changed"}, {"id": "US-9", "region": "US"}]),
        json!([{"id": "US-1", "name": "changed"}]),
        json!([{"id": "EU-1", "region": "US"}]),
    ] {
        let (status, response) = deliver(&proxy, &token, &payload).await;
        assert_eq!(status, "202", "{payload}: {response}");
        assert!(
            ["forbidden", "external_key_taken"].contains(&response["code"].as_str().unwrap_or_default()),
            "{response}"
        );
    }
    assert_eq!(sales.state().await, before, "nothing was written");
    let payload = json!([{"id": "EU-1", "name": "changed"}, {"id": "EU-9", "region": "EU"}]);
    let (status, response) = deliver(&proxy, &token, &payload).await;
    assert_eq!((status.as_str(), &response), ("200", &json!({"created": 1, "updated": 1})));
    // The role of the delivery is not active afterwards.
    assert_eq!(proxy.error("select from crm.customers", &[]).await.state, "42501");
    let me = proxy.json("select keyed.me()", &[]).await;
    assert_eq!(me["templates"], json!([]));

    sales.database.revoke(&role, "crm.customers").await;
    let (status, response) = deliver(&proxy, &token, &payload).await;
    assert_eq!((status.as_str(), &response["code"]), ("202", &json!("forbidden")));
}

#[tokio::test]
async fn role_of_an_endpoint_ends_with_its_delivery() {
    let sales = Sales::new().await;
    let (_, token) = endpoint(&sales.admin, json!({"role": "keyed_admin"})).await;
    let proxy = sales.database.session_as("keyed_proxy").await;
    proxy.run("begin").await;
    let (status, _) = deliver(&proxy, &token, &json!([{"id": "EU-1", "name": "x"}])).await;
    assert_eq!(status, "200");
    assert_eq!(proxy.json("select keyed.me()", &[]).await["admin"], json!(false));
    let error = proxy.error("select keyed.search('crm.customers')", &[]).await;
    assert_eq!(error.state, "42501");
    proxy.run("rollback").await;
}

#[tokio::test]
async fn endpoint_without_a_role_stores_deliveries() {
    let sales = Sales::new().await;
    sales.admin.run("create role courier").await;
    sales.database.grant("courier", "crm.customers", "create, update").await;
    let (id, token) = endpoint(&sales.admin, json!({"role": "courier"})).await;
    sales.database.revoke("courier", "crm.customers").await;
    sales.admin.run("drop role courier").await;
    let (status, response) = deliver(&sales.admin, &token, &json!([{"id": "N-1"}])).await;
    assert_eq!((status.as_str(), &response["code"]), ("202", &json!("forbidden")));
    let error = sales.admin.text("select error ->> 'hint' from keyed_state.inbound_delivery", &[]).await;
    assert!(error.contains("alter_inbound_endpoint"), "{error}");
    sales.admin.rows("select keyed.alter_inbound_endpoint($1, '{\"role\": \"keyed_admin\"}')", &[&id]).await;
    let report = sales.admin.json("select keyed.replay_failed_deliveries($1)", &[&id]).await;
    assert_eq!(report["done"], 1);
}

/// Everything that concerns an endpoint, by SQL.
const STATEMENTS: [&str; 7] = [
    "select keyed.alter_inbound_endpoint($1, '{}')",
    "select keyed.dry_run_inbound($1, '{\"payload\": []}')",
    "select keyed.inbound_deliveries($1)",
    "select keyed.replay_failed_deliveries($1)",
    "select keyed.drop_inbound_endpoint($1)",
    "select keyed.replay_delivery(1)",
    "select keyed.create_inbound_endpoint('crm.customers', '{\"slug\": \"x\", \"external_key\": \"$\"}')",
];

#[tokio::test]
async fn endpoints_are_hidden_without_privileges() {
    let sales = Sales::new().await;
    let (id, token) = endpoint(&sales.admin, json!({})).await;
    deliver(&sales.admin, &token, &json!([{"id": 1, "name": 5}])).await;
    let (_, unprivileged) = sales.member().await;
    let (_, clerk) = sales.clerk("read, create, update, delete", &of_region("EU")).await;
    for (session, states) in [(&unprivileged, ["P0002", "42501"]), (&clerk, ["42501", "42501"])] {
        for statement in STATEMENTS {
            let error = session.error(statement, &[&id]).await;
            assert!(states.contains(&error.state.as_str()), "{statement}: {error}");
        }
        assert_eq!(session.json("select keyed.list_inbound_endpoints()", &[]).await["endpoints"], json!([]));
        let purge = session.error("select keyed.purge_deliveries(now())", &[]).await;
        assert_eq!(purge.codes(), ("42501", "forbidden"));
        for table in ["inbound_endpoint", "inbound_delivery"] {
            let error = session.error(&format!("select from keyed_state.{table}"), &[]).await;
            assert_eq!(error.state, "42501", "{table}");
        }
    }
}

#[tokio::test]
async fn administrators_cannot_read_endpoint_secrets() {
    let sales = Sales::new().await;
    endpoint(&sales.admin, json!({"signed": true})).await;
    let (role, session) = sales.member().await;
    sales.admin.run(&format!("grant keyed_admin to {role}")).await;
    assert_eq!(session.text("select slug from keyed_state.inbound_endpoint", &[]).await, "shop");
    for column in ["secret", "token_hash", "*"] {
        let error = session.error(&format!("select {column} from keyed_state.inbound_endpoint"), &[]).await;
        assert_eq!(error.state, "42501", "{column}");
    }
    let listed = session.text("select keyed.list_inbound_endpoints()", &[]).await;
    assert!(listed.contains("shop") && !listed.contains("whsec_") && !listed.contains("token"), "{listed}");
    for statement in [
        "update keyed_state.inbound_endpoint set enabled = false",
        "delete from keyed_state.inbound_delivery",
    ] {
        assert_eq!(session.error(statement, &[]).await.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn endpoint_cannot_have_more_privileges_than_its_creator() {
    let sales = Sales::new().await;
    let (definer, session) = sales.member().await;
    sales.database.grant(&definer, "crm.customers", "read, create, update, define").await;
    for role in ["keyed_admin", "postgres", "keyed_owner"] {
        let definition = json!({"slug": "up", "external_key": "$", "role": role}).to_string();
        let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
        assert_eq!(session.error(create, &[&definition]).await.codes(), ("42501", "forbidden"), "{role}");
    }
    // An endpoint of an administrator, and one of the role itself.
    let (mighty, _) = endpoint(&sales.admin, json!({"role": "keyed_admin"})).await;
    for statement in &STATEMENTS[..5] {
        assert_eq!(session.error(statement, &[&mighty]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    let (own, token) = endpoint(&session, json!({"slug": "own"})).await;
    let bent = session
        .error("select keyed.alter_inbound_endpoint($1, '{\"role\": \"keyed_admin\"}')", &[&own])
        .await;
    assert_eq!(bent.codes(), ("42501", "forbidden"));
    let listed = session.json("select keyed.list_inbound_endpoints()", &[]).await;
    assert_eq!(listed["endpoints"].as_array().map(Vec::len), Some(1));
    // By default, an endpoint has the role that creates it.
    let (status, _) = deliver(&sales.admin, &token, &json!([{"id": 1}])).await;
    assert_eq!(status, "200");
    sales.database.revoke(&definer, "crm.customers").await;
    sales.database.grant_within(&definer, "crm.customers", "create, update", &of_region("EU")).await;
    let (status, _) = deliver(&sales.admin, &token, &json!([{"id": 2}])).await;
    assert_eq!(status, "202");
    // A keyed administrator is not an administrator of the server.
    let (admin, session) = sales.member().await;
    sales.admin.run(&format!("grant keyed_admin to {admin}")).await;
    let definition = json!({"slug": "up", "external_key": "$", "role": "postgres"}).to_string();
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1)";
    assert_eq!(session.error(create, &[&definition]).await.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn endpoint_of_another_project_is_invisible() {
    let sales = Sales::new().await;
    let (id, _) = endpoint(&sales.admin, json!({})).await;
    sales.admin.run("select keyed.create_project('other')").await;
    let key = sales.database.api_key("keyed_admin", &["other"]).await;
    let ask =
        "select keyed_http.get_inbound_endpoint($2) from keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    for name in [id.as_str(), "shop"] {
        assert_eq!(sales.admin.error(ask, &[&key, name]).await.codes(), ("P0002", "not_found"), "{name}");
    }
    let list =
        "select keyed_http.list_inbound_endpoints() from keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    assert_eq!(sales.admin.json(list, &[&key]).await["endpoints"], json!([]));
}
