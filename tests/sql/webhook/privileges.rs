//! An endpoint delivers what its role may read, at the time of sending.

use super::{
    alter, body, claim, create, deliver, deliveries, endpoint, finish_all, in_short, log, queue,
    with_endpoint,
};
use harness::{Database, Session};
use serde_json::{Value, json};

const VISITS: &str = r#"{"filters": [{"field": "visits", "operator": "gt", "value": 5}]}"#;

/// An endpoint of a role that can read customers with more than five visits.
async fn with_scope(more: Value) -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let role = format!("shop_{}", database.name());
    session.run(&format!("create role {role}")).await;
    let scope: Value = serde_json::from_str(VISITS).expect("JSON");
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let mut members = json!({"role": role});
    members.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    create(&session, "shop", members).await;
    (database, session, role)
}

#[tokio::test]
async fn role_gets_its_scope_only() {
    let (_database, session, _) = with_scope(json!({})).await;
    session
        .run(
            "insert into crm.customers (external_key, visits) values ('in', 9), ('out', 1), ('leaves', 9);
             insert into crm.companies (external_key, name) values ('C-1', 'Acme')",
        )
        .await;
    queue(&session).await;
    let mut delivered = deliver(&session).await;
    delivered.sort();
    assert_eq!(delivered, ["record.created in", "record.created leaves"]);
    session.run("update crm.customers set visits = 1 where external_key = 'leaves'").await;
    queue(&session).await;
    let claim = claim(&session, 1).await;
    assert_eq!(in_short(&claim), ["record.gone -"]);
    assert!(!claim.to_string().contains("leaves"), "{claim}");
}

#[tokio::test]
async fn record_that_left_the_scope_before_it_is_sent_is_gone() {
    let (database, session, role) = with_scope(json!({"include_record": true})).await;
    session.run("insert into crm.customers (external_key, visits) values ('a', 9)").await;
    queue(&session).await;
    session.run("update crm.customers set visits = 1").await;
    let claimed = claim(&session, 1).await;
    let first = body(&deliveries(&claimed)[0]);
    assert_eq!((&first["type"], &first["data"]["external_key"]), (&json!("record.gone"), &Value::Null));
    assert!(first["data"].get("record").is_none(), "{first}");
    finish_all(&session, &claimed, 200).await;
    // When the record is visible again, all of its changes are delivered. A revocation hides it as well.
    session.run("update crm.customers set visits = 7").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.updated a", "record.updated a"]);
    session.run("update crm.customers set visits = 8").await;
    queue(&session).await;
    database.revoke(&role, "crm.customers").await;
    assert_eq!(deliver(&session).await, ["record.gone -"]);
}

#[tokio::test]
async fn endpoint_without_gone_events_omits_invisible_records() {
    let (_database, session, _) = with_scope(json!({"operations": ["create", "update"]})).await;
    session.run("insert into crm.customers (external_key, visits) values ('a', 9)").await;
    queue(&session).await;
    session.run("update crm.customers set visits = 1").await;
    assert_eq!(deliver(&session).await, [""; 0]);
    let entry = &log(&session).await[0];
    assert_eq!(entry["state"], "done");
    assert_eq!(entry["last_error"], "not sent: the role of the endpoint no longer sees the record");
}

#[tokio::test]
async fn delivery_contains_the_record_at_the_time_of_sending() {
    let (_database, session) = with_endpoint(json!({"include_record": true})).await;
    session.run("insert into crm.customers (external_key, visits) values ('a', 1)").await;
    queue(&session).await;
    session.run("update crm.customers set visits = 2, name = '\"quoted\"'").await;
    let claim = claim(&session, 1).await;
    let record = body(&deliveries(&claim)[0])["data"]["record"].clone();
    assert_eq!(record["attributes"]["visits"], 2);
    assert_eq!(record["attributes"]["name"], "\"quoted\"");
    assert_eq!(record["external_key"], "a");
}

#[tokio::test]
async fn record_that_leaves_the_filter_is_gone() {
    let filter: Value = serde_json::from_str(VISITS).expect("JSON");
    let (_database, session) = with_endpoint(json!({"templates": ["customers"], "filter": filter})).await;
    session
        .run(
            "insert into crm.customers (external_key, visits) values ('in', 9), ('out', 1), ('enters', 1);
             update crm.customers set name = 'Ada' where external_key in ('in', 'out');
             update crm.customers set visits = 6 where external_key = 'enters'",
        )
        .await;
    queue(&session).await;
    let mut delivered = deliver(&session).await;
    delivered.sort();
    let seen = ["record.created enters", "record.created in", "record.updated enters", "record.updated in"];
    assert_eq!(delivered, seen);
    session.run("update crm.customers set visits = 0 where external_key = 'in'").await;
    session.run("update crm.customers set visits = 2 where external_key = 'out'").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.gone -"]);
}

#[tokio::test]
async fn filter_through_a_reference_follows_its_target() {
    let filter = json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Acme"}]});
    let (_database, session) = with_endpoint(json!({"templates": ["customers"], "filter": filter})).await;
    session
        .run(
            r#"insert into crm.companies (external_key, name) values ('C-1', 'Acme'), ('C-2', 'Other');
               select keyed.upsert_by_key('crm.customers', 'a', '{"company": {"external_key": "C-1"}}');
               select keyed.upsert_by_key('crm.customers', 'b', '{"company": {"external_key": "C-2"}}')"#,
        )
        .await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created a"]);
    session.run("update crm.companies set name = 'Former' where external_key = 'C-1'").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.gone -"]);
    session.run("update crm.companies set name = 'Acme' where external_key = 'C-2'").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.updated b"]);
}

#[tokio::test]
async fn dropped_role_disables_its_endpoint() {
    let (_database, session, role) = with_scope(json!({})).await;
    session.run(&format!("drop owned by {role}; drop role {role}")).await;
    session.run("insert into crm.customers (external_key, visits) values ('a', 9)").await;
    assert_eq!(queue(&session).await, 0);
    let disabled = endpoint(&session, "shop").await;
    assert_eq!((&disabled["role"], &disabled["enabled"]), (&Value::Null, &json!(false)));
    assert_eq!(disabled["disabled_reason"], "its role was dropped");
    let changes = json!({"role": "keyed_admin", "enabled": true});
    assert_eq!(alter(&session, &disabled["id"], changes).await["role"], "keyed_admin");
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created a"]);
}

#[tokio::test]
async fn key_of_a_project_delivers_its_endpoints_only() {
    let (database, session) = with_endpoint(json!({})).await;
    session
        .run(
            "select keyed.create_project('other', 'Other');
             select keyed.create_template('other', 'things', '[]');
             select keyed.create_webhook_endpoint('other', '{\"slug\": \"shop\", \"url\": \"https://example.com\"}')",
        )
        .await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    session.run("insert into other.things (external_key) values ('b')").await;
    let key = database.api_key("keyed_admin", &["other"]).await;
    let call = |function: &str| {
        format!("select keyed_http.{function} from keyed.authenticate(sha256('{key}'::bytea), null, 'api')")
    };
    let queued = session.json(&call("queue_webhooks()"), &[]).await;
    assert_eq!(queued["queued"], 1);
    assert_eq!(queue(&session).await, 1);
    let claim = session.json(&call("claim_webhooks(10, 60)"), &[]).await;
    assert_eq!(in_short(&claim), ["record.created b"]);
}
