//! Concurrent batches.

use crate::{Waiting, assert_no_deadlock, first_row};
use harness::{Database, Service};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// The numbers below `count`, in a different order for each seed.
fn shuffled(count: usize, seed: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by_key(|number| ((number + 1) * (seed * 2 + 1) * 2_654_435_761) % 1_000_003);
    numbers
}

#[tokio::test]
async fn batches_over_the_same_keys_do_not_deadlock() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "6"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut batches = JoinSet::new();
    for number in 0..120 {
        let operations: Value = shuffled(20, number)
            .into_iter()
            .map(|key| match number % 3 {
                0 => json!({"op": "upsert", "template": "customers", "external_key": format!("K-{key}"), "attributes": {"visits": {"$inc": 1}}}),
                1 => json!({"op": "upsert", "template": "customers", "external_key": format!("K-{key}"), "attributes": {"visits": {"$inc": 1}, "name": format!("{number}")}}),
                _ => json!({"op": "upsert", "template": "customers", "external_key": format!("K-{key}"), "attributes": {"visits": {"$inc": 1}, "mood": number}}),
            })
            .collect();
        let body = json!({"atomic": number % 2 == 0, "conflict": "wait", "operations": operations});
        batches.spawn(service.proxy.request("POST", "/v1/entities/batch").json(&body).send());
    }
    for response in batches.join_all().await {
        let report = response.expect(200);
        assert_eq!(report["errors"], false, "{report}");
    }
    let session = service.session().await;
    let sums = "select string_agg(distinct visits::text, ',') || ' ' || count(*) from crm.customers";
    assert_eq!(session.text(sums, &[]).await, "120 20");
    assert_no_deadlock(&service.database);
}

#[tokio::test]
async fn atomic_batch_with_a_concurrent_key_fails_retryably() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let batch = "select keyed.batch($1, true)";
    let operations = |op: &str| {
        json!([
            {"op": "upsert", "template": "crm.customers", "external_key": "A", "attributes": {"name": "a"}},
            {"op": op, "template": "crm.customers", "external_key": "K", "attributes": {"name": "b"}},
        ])
        .to_string()
    };
    for end in ["commit", "rollback"] {
        first.run("delete from crm.customers").await;
        first.run("begin; select keyed.create_record('crm.customers', '{}', 'K')").await;
        let waiting =
            Waiting::start(database.session().await, &observer, batch, &[&operations("create")]).await;
        first.run(end).await;
        let count = "select count(*) from crm.customers where external_key = 'A'";
        match waiting.outcome().await {
            Ok(rows) => {
                assert_eq!(end, "rollback", "{:?}", first_row(&rows));
                assert_eq!(observer.text(count, &[]).await, "1");
            }
            Err(error) => {
                assert_eq!((end, error.codes()), ("commit", ("23505", "external_key_taken")));
                assert_eq!(error.detail["failed_index"], 1);
                assert_eq!(observer.text(count, &[]).await, "0", "the batch exists only partly");
                assert_eq!(first.error(batch, &[&operations("create")]).await.state, "23505");
                assert_eq!(first.json(batch, &[&operations("upsert")]).await["results"][1]["created"], false);
            }
        }
    }
}

#[tokio::test]
async fn batches_with_mutual_references_do_not_deadlock() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "6"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut batches = JoinSet::new();
    for number in 0..60 {
        let mut operations: Vec<Value> = shuffled(6, number)
            .into_iter()
            .flat_map(|key| {
                [
                    json!({"op": "upsert", "template": "customers", "external_key": format!("K-{key}"),
                           "attributes": {"company": {"external_key": format!("C-{key}")}, "visits": {"$inc": 1}}}),
                    json!({"op": "upsert", "template": "companies", "external_key": format!("C-{key}"), "attributes": {"name": format!("{number}")}}),
                ]
            })
            .collect();
        if number % 2 == 0 {
            operations.reverse();
        }
        let body = json!({"atomic": true, "conflict": "wait", "operations": operations});
        batches.spawn(service.proxy.request("POST", "/v1/entities/batch").json(&body).send());
    }
    for response in batches.join_all().await {
        assert_eq!(response.expect(200)["errors"], false);
    }
    let session = service.session().await;
    let sums = "select string_agg(distinct visits::text, ',') || ' ' || count(*) || ' ' || count(company) from crm.customers";
    assert_eq!(session.text(sums, &[]).await, "60 6 6");
    assert_no_deadlock(&service.database);
}

#[tokio::test]
async fn operation_by_key_does_not_change_a_renamed_record() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    for operation in [
        json!({"op": "delete", "template": "crm.customers", "external_key": "K"}),
        json!({"op": "update", "template": "crm.customers", "external_key": "K", "attributes": {"name": "x"}}),
        json!({"op": "update", "template": "crm.customers", "external_key": "K", "attributes": {"mood": 1}}),
    ] {
        first.run("delete from crm.customers; select keyed.upsert_by_key('crm.customers', 'K')").await;
        first
            .run("begin; select keyed.patch_record(id, '{\"external_key\": \"L\"}') from crm.customers")
            .await;
        let batch = "select keyed.batch($1)";
        let operations = json!([operation]).to_string();
        let waiting = Waiting::start(database.session().await, &observer, batch, &[&operations]).await;
        first.run("commit").await;
        let report: Value =
            serde_json::from_str(&first_row(&waiting.outcome().await.expect("a report"))[0]).expect("JSON");
        assert_eq!(report["results"][0]["status"], 404, "{operation}: {report}");
        let untouched = "select external_key from crm.customers where deleted_at is null and name is null and mood is null";
        assert_eq!(observer.text(untouched, &[]).await, "L", "{operation}");
    }
}
