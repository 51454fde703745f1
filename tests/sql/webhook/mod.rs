//! Webhook endpoints and their deliveries, as a worker claims and finishes them.

mod dependents;
mod endpoints;
mod order;
mod outcomes;
mod privileges;

use harness::{Database, Session};
use serde_json::{Value, json};

/// A database with the project `crm`, and an endpoint `shop` with these additional members.
async fn with_endpoint(more: Value) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    create(&session, "shop", more).await;
    (database, session)
}

/// Creates an endpoint.
async fn create(session: &Session, slug: &str, more: Value) -> Value {
    let mut definition = json!({"slug": slug, "url": "https://shop.example.com/hooks"});
    let members = definition.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    session.json("select keyed.create_webhook_endpoint('crm', $1)", &[&definition.to_string()]).await
}

async fn alter(session: &Session, id: &Value, changes: Value) -> Value {
    let id = id.as_str().expect("the id of an endpoint");
    session.json("select keyed.alter_webhook_endpoint($1::integer, $2)", &[id, &changes.to_string()]).await
}

/// An endpoint by its slug, as listed.
async fn endpoint(session: &Session, slug: &str) -> Value {
    let list = session.json("select keyed.list_webhook_endpoints('crm')", &[]).await;
    let endpoints = list["endpoints"].as_array().expect("endpoints");
    endpoints.iter().find(|it| it["slug"] == slug).expect("the endpoint").clone()
}

/// Queues all new changes, and returns the number of deliveries.
async fn queue(session: &Session) -> u64 {
    let mut total = 0;
    loop {
        let queued = session.json("select keyed_http.queue_webhooks()", &[]).await;
        total += queued["queued"].as_u64().expect("a number");
        if queued["has_more"] == false {
            return total;
        }
    }
}

/// Claims up to this many deliveries.
async fn claim(session: &Session, max: usize) -> Value {
    session.json("select keyed_http.claim_webhooks($1::integer, 60)", &[&max.to_string()]).await
}

/// The deliveries of a claim.
fn deliveries(claim: &Value) -> &[Value] {
    claim["deliveries"].as_array().expect("deliveries")
}

/// The body of a delivery.
fn body(delivery: &Value) -> Value {
    serde_json::from_str(delivery["body"].as_str().expect("a body")).expect("JSON")
}

/// The types and keys of the deliveries of a claim.
fn in_short(claim: &Value) -> Vec<String> {
    let short = |delivery: &Value| {
        let body = body(delivery);
        let key = body["data"]["external_key"].as_str().unwrap_or("-").to_owned();
        format!("{} {key}", body["type"].as_str().expect("a type"))
    };
    deliveries(claim).iter().map(short).collect()
}

/// Stores the status of a response, or no response. Returns whether the claim was still valid.
async fn finish(session: &Session, claim: &Value, delivery: &Value, status: Option<u16>) -> bool {
    let status = status.map_or("null".to_owned(), |status| status.to_string());
    let error = if status.starts_with('2') { "null" } else { "'it failed'" };
    let sql = format!("select keyed_http.finish_webhook($1, $2, {status}, {error}, 'the response', null, 7)");
    let claim = claim["claim"].as_str().expect("a claim");
    session.text(&sql, &[claim, delivery["id"].as_str().expect("an id")]).await == "t"
}

/// Finishes all deliveries of a claim.
async fn finish_all(session: &Session, claim: &Value, status: u16) {
    for delivery in deliveries(claim) {
        assert!(finish(session, claim, delivery, Some(status)).await, "the claim is valid");
    }
}

/// Claims and accepts all due deliveries, and returns their types and keys.
async fn deliver(session: &Session) -> Vec<String> {
    let mut delivered = Vec::new();
    loop {
        let claim = claim(session, 100).await;
        if deliveries(&claim).is_empty() && claim["is_settled"] == false {
            return delivered;
        }
        delivered.extend(in_short(&claim));
        finish_all(session, &claim, 200).await;
    }
}

/// The log of the endpoint with the id 1, newest first.
async fn log(session: &Session) -> Vec<Value> {
    let page = session.json("select keyed.webhook_deliveries(1)", &[]).await;
    page["deliveries"].as_array().expect("deliveries").clone()
}
