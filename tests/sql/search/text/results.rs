//! The results of searches among customers, page by page, and a reader with a scope.

use harness::{Database, Session};
use serde_json::{Value, json};

pub(super) async fn search(session: &Session, query: &Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

pub(super) fn keys(result: &Value) -> Vec<String> {
    let records = result["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["external_key"].as_str().map(str::to_owned)).collect()
}

/// The keys of the first pages.
pub(super) async fn pages(session: &Session, body: &Value, max: usize) -> Vec<String> {
    let (mut body, mut found) = (body.clone(), Vec::new());
    for _ in 0..max {
        let result = search(session, &body).await;
        found.extend(keys(&result));
        body["cursor"] = result["next_cursor"].clone();
        if body["cursor"].is_null() {
            break;
        }
    }
    found
}

/// Companies with these names and the keys C0, C1 and so on.
pub(super) async fn create_companies(session: &Session, names: &[&str]) {
    for (number, name) in names.iter().enumerate() {
        let create = "insert into crm.companies (external_key, name) values ($1, $2)";
        session.rows(create, &[&format!("C{number}"), name]).await;
    }
}

/// A session that can read all companies, and the customers with the tier gold.
pub(super) async fn reader_of_gold(database: &Database) -> Session {
    let role = database.create_role("gold").await;
    database.session().await.run(&format!("grant usage on schema crm to {role}")).await;
    let scope = json!({"filters": [{"field": "tier", "operator": "in", "value": "gold"}]});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    database.grant(&role, "crm.companies", "read").await;
    database.session_as(&role).await
}
