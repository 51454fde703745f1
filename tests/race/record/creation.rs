//! Concurrent creations of which only one can succeed.

use crate::live;
use harness::customers::HISTORY;
use harness::{Response, Service, id_of};
use serde_json::{Value, json};
use std::collections::HashSet;
use tokio::task::JoinSet;

const PATH: &str = "/v1/entities/template/customers/by-key";

/// Sends many requests concurrently, on many connections of the proxy's pool.
async fn concurrently(
    service: &Service,
    method: &str,
    path: &str,
    body: impl Fn(usize) -> Value,
    count: usize,
) -> Vec<Response> {
    let mut requests = JoinSet::new();
    for number in 0..count {
        requests.spawn(service.proxy.request(method, path).json(&body(number)).send());
    }
    requests.join_all().await
}

#[tokio::test]
async fn concurrent_upserts_of_a_new_key_create_one_record() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    for round in 0..3 {
        let key = format!("K-{round}");
        let body = |number| json!({"external_key": key, "attributes": {"name": format!("caller {number}")}});
        let responses = concurrently(&service, "PUT", PATH, body, 100).await;
        let created = responses
            .iter()
            .filter(|response| response.status == 201 && response.body["created"] == true)
            .count();
        let updated = responses
            .iter()
            .filter(|response| response.status == 200 && response.body["created"] == false)
            .count();
        assert_eq!((created, updated), (1, 99));
        let ids: HashSet<&str> = responses.iter().map(|response| id_of(&response.body)).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        let session = service.session().await;
        assert_eq!(live(&session, &key).await, "1");
        let id = ids.into_iter().next().expect("one id");
        let story = "select count(*) filter (where operation = 'create'), count(*) filter (where operation = 'update'),
                     max(version), count(distinct changes #>> '{name,new}') from keyed.history($1)";
        let story = session.rows(story, &[id]).await.remove(0);
        // Every caller wrote another name, so each has its history entry.
        assert_eq!(story, ["1", "99", "100", "100"].map(|count| Some(count.to_owned())));
    }
}

#[tokio::test]
async fn equal_concurrent_upserts_are_one_change() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let responses = concurrently(
        &service,
        "PUT",
        PATH,
        |_| json!({"external_key": "K", "attributes": {"name": "x"}}),
        60,
    )
    .await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
    let session = service.session().await;
    assert_eq!(session.text(&format!("select count(*) from {HISTORY}"), &[]).await, "1");
    let empty = concurrently(&service, "PUT", PATH, |_| json!({"external_key": "L"}), 60).await;
    assert_eq!(empty.iter().filter(|response| response.status == 201).count(), 1);
    assert_eq!(live(&session, "L").await, "1");
}

#[tokio::test]
async fn concurrent_creates_of_a_key_have_one_winner() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let path = "/v1/entities/template/customers";
    let responses = concurrently(
        &service,
        "POST",
        path,
        |n| json!({"external_key": "K", "attributes": {"visits": n}}),
        40,
    )
    .await;
    let (won, lost): (Vec<Response>, Vec<Response>) =
        responses.into_iter().partition(|response| response.status == 201);
    assert_eq!((won.len(), lost.len()), (1, 39));
    for response in lost {
        assert_eq!(response.expect_error(409, "external_key_taken")["existing_id"], won[0].body["id"]);
    }
    assert_eq!(service.by_key("K").await.expect(200), won[0].body);
}

#[tokio::test]
async fn concurrent_renames_to_a_key_have_one_winner() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut requests = JoinSet::new();
    for number in 0..30 {
        let record = service.create(json!({"external_key": format!("old {number}")})).await;
        let path = format!("/v1/entities/{}", id_of(&record));
        requests.spawn(service.proxy.request("PATCH", &path).json(&json!({"external_key": "K"})).send());
    }
    let responses = requests.join_all().await;
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1);
    assert_eq!(responses.iter().filter(|response| response.status == 409).count(), 29);
    let session = service.session().await;
    assert_eq!(live(&session, "K").await, "1");
    assert_eq!(
        session.text("select count(*) from crm.customers where external_key like 'old %'", &[]).await,
        "29"
    );
}

#[tokio::test]
async fn concurrent_deletions_and_creations_leave_at_most_one() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut requests = JoinSet::new();
    for number in 0..120 {
        let request = match number % 3 {
            0 => service.proxy.request("DELETE", &format!("{PATH}?key=K")),
            _ => service
                .proxy
                .request("PUT", PATH)
                .json(&json!({"external_key": "K", "attributes": {"visits": number}})),
        };
        requests.spawn(request.send());
    }
    let responses = requests.join_all().await;
    assert!(
        responses.iter().all(|response| [200, 201, 204, 404].contains(&response.status)),
        "{responses:?}"
    );
    let created = responses.iter().filter(|response| response.status == 201).count();
    let deleted = responses.iter().filter(|response| response.status == 204).count();
    let session = service.session().await;
    assert_eq!(live(&session, "K").await, (created - deleted).to_string());
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, created.to_string());
}
