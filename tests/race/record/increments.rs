//! Increments are never lost or applied twice.

use harness::{Service, id_of};
use serde_json::json;
use tokio::task::JoinSet;

const PATH: &str = "/v1/entities/template/customers/by-key";

#[tokio::test]
async fn hundred_concurrent_increments_add_up_and_are_in_the_history() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let record = service.create(json!({"external_key": "K", "attributes": {"visits": 5}})).await;
    let mut requests = JoinSet::new();
    for number in 0..100 {
        let attributes = json!({"visits": {"$inc": 1}});
        let request = match number % 2 {
            0 => service
                .proxy
                .request("PUT", PATH)
                .json(&json!({"external_key": "K", "attributes": attributes})),
            _ => service
                .proxy
                .request("PATCH", &format!("/v1/entities/{}", id_of(&record)))
                .json(&json!({"attributes": attributes})),
        };
        requests.spawn(request.send());
    }
    for response in requests.join_all().await {
        response.expect(200);
    }
    assert_eq!(service.by_key("K").await.expect(200)["attributes"]["visits"], 105);
    let session = service.session().await;
    let chain = "select count(*), max(version), count(*) filter (where (changes #>> '{visits,new}')::int = version + 4)
                 from keyed.history($1)";
    let row = session.rows(chain, &[id_of(&record)]).await.remove(0);
    // Each version adds one to the previous version, so every history entry has a value that existed.
    assert_eq!(row, ["101", "101", "101"].map(|count| Some(count.to_owned())));
}

#[tokio::test]
async fn concurrent_increments_of_a_new_record_add_up() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut requests = JoinSet::new();
    for _ in 0..100 {
        let body = json!({"external_key": "K", "attributes": {"visits": {"$inc": 1}, "mood": 1}});
        requests.spawn(service.proxy.request("PUT", PATH).json(&body).send());
    }
    let responses = requests.join_all().await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 99);
    let record = service.by_key("K").await.expect(200);
    assert_eq!(record["attributes"]["visits"], 100);
    let points = "select count(*) from keyed.metric_series($1, 'mood')";
    assert_eq!(service.session().await.text(points, &[id_of(&record)]).await, "100");
}

#[tokio::test]
async fn increments_by_direct_sql_and_by_function_add_up() {
    let service = Service::start().await;
    service.upsert("K", json!({"visits": 0})).await.expect(201);
    let mut sessions = JoinSet::new();
    for number in 0..6 {
        let session = service.session().await;
        sessions.spawn(async move {
            for _ in 0..20 {
                let statement = match number % 3 {
                    0 => "update crm.customers set visits = visits + 1 where external_key = 'K'",
                    1 => "select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": {\"$inc\": 1}}')",
                    _ => "select keyed.patch_record(id, '{\"attributes\": {\"visits\": {\"$inc\": 1}}}') from crm.customers",
                };
                session.run(statement).await;
            }
        });
    }
    sessions.join_all().await;
    let session = service.session().await;
    let total = "select visits || ' ' || (select max(version) from keyed.history(id)) from crm.customers";
    assert_eq!(session.text(total, &[]).await, "120 121");
}

#[tokio::test]
async fn concurrent_creating_increments_are_all_applied() {
    let service = Service::start().await;
    service.session().await.run(
        "select keyed.create_template('crm', 'orders', '[{\"slug\": \"total\", \"type\": \"number\"}, {\"slug\": \"note\", \"type\": \"string\", \"required\": true, \"default\": \"-\"}]')",
    ).await;
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(6));
    let mut sessions = JoinSet::new();
    for _ in 0..6 {
        let (session, start) = (service.session().await, std::sync::Arc::clone(&start));
        sessions.spawn(async move {
            for round in 0..120 {
                let key = format!("K-{round}");
                start.wait().await;
                let upsert = "select keyed.upsert_by_key('crm.customers', $1, '{\"visits\": {\"$inc\": 1}, \"mood\": 1}')";
                session.rows(upsert, &[&key]).await;
                let upsert = "select keyed.upsert_by_key('crm.orders', $1, '{\"total\": {\"$inc\": 1}}')";
                session.rows(upsert, &[&key]).await;
            }
        });
    }
    sessions.join_all().await;
    let session = service.session().await;
    let lost = "select count(*) filter (where visits <> 6) || ' ' || count(*) from crm.customers";
    assert_eq!(session.text(lost, &[]).await, "0 120");
    let lost = "select count(*) filter (where total <> 6) || ' ' || count(*) from crm.orders";
    assert_eq!(session.text(lost, &[]).await, "0 120");
}
