//! Concurrent writes with a version as precondition: no update is lost, and only one succeeds.

use crate::{Waiting, first_row};
use harness::{Database, Service, id_of};
use serde_json::json;
use tokio::task::JoinSet;

const BY_KEY: &str = "/v1/entities/template/customers/by-key";

#[tokio::test]
async fn concurrent_updates_with_if_match_lose_nothing() {
    const CLIENTS: u64 = 6;
    const ROUNDS: u64 = 15;
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "8"), ("KEYED_POOL_WAIT", "30")]).await;
    let record = service.create(json!({"external_key": "K", "attributes": {"visits": 0}})).await;
    let path = format!("/v1/entities/{}", id_of(&record));
    let service = std::sync::Arc::new(service);
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (service, path) = (std::sync::Arc::clone(&service), path.clone());
        clients.spawn(async move {
            let (mut done, mut rejected) = (0, 0);
            while done < ROUNDS {
                let read = service.proxy.request("GET", &path).send().await;
                let tag = read.header("etag").to_owned();
                let visits = read.expect(200)["attributes"]["visits"].as_u64().expect("a number") + 1;
                let request = match client % 4 {
                    0 => {
                        service.proxy.request("PATCH", &path).json(&json!({"attributes": {"visits": visits}}))
                    }
                    1 => service.proxy.request("PUT", &path).json(&json!({"visits": visits})),
                    2 => {
                        let operation = json!({"op": "update", "template": "customers", "external_key": "K",
                            "attributes": {"visits": visits}, "if_match": tag});
                        let body = json!({"atomic": true, "operations": [operation]});
                        match service.proxy.request("POST", "/v1/entities/batch").json(&body).send().await {
                            response if response.status == 200 => done += 1,
                            response => {
                                response.expect_error(412, "precondition_failed");
                                rejected += 1;
                            }
                        }
                        continue;
                    }
                    _ => service
                        .proxy
                        .request("PUT", BY_KEY)
                        .json(&json!({"external_key": "K", "attributes": {"visits": visits}})),
                };
                let response = request.header("if-match", &tag).send().await;
                match response.status {
                    200 => done += 1,
                    _ => {
                        response.expect_error(412, "precondition_failed");
                        rejected += 1;
                    }
                }
            }
            rejected
        });
    }
    let rejected: u64 = clients.join_all().await.into_iter().sum();
    assert_eq!(
        service.by_key("K").await.expect(200)["attributes"]["visits"],
        CLIENTS * ROUNDS,
        "{rejected} refused"
    );
}

#[tokio::test]
async fn concurrent_create_only_upserts_have_one_winner() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "8"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut requests = JoinSet::new();
    for number in 0..20 {
        let body = json!({"external_key": "K", "attributes": {"name": format!("{number}")}});
        requests.spawn(service.proxy.request("PUT", BY_KEY).header("if-none-match", "*").json(&body).send());
    }
    let responses = requests.join_all().await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
    assert_eq!(responses.iter().filter(|response| response.status == 412).count(), 19);
    let versions = "select count(*) from crm.customers c, keyed.history(c.id)";
    assert_eq!(service.session().await.text(versions, &[]).await, "1");
}

#[tokio::test]
async fn waiting_write_checks_the_new_version() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let writes = [
        "select keyed.patch_record($2, '{\"attributes\": {\"name\": \"x\"}}', $1)",
        "select keyed.patch_record($2, '{\"attributes\": {\"mood\": 7}}', $1)",
        "select keyed.patch_record($2, '{\"external_key\": \"L\"}', $1)",
        "select keyed.replace_attributes($2, '{}', $1)",
        "select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"x\"}', $1)",
        "select keyed.delete_record($2, $1)",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'update', 'id', $2::text, \
         'attributes', '{\"name\": \"x\"}'::jsonb, 'if_match', $1::text)), true)",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'upsert', 'template', 'crm.customers', \
         'external_key', 'K', 'attributes', '{\"name\": \"x\"}'::jsonb, 'if_match', $1::text)), true) where $2 <> ''",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'delete', 'template', 'crm.customers', \
         'external_key', 'K', 'if_match', $1::text)), true) where $2 <> ''",
    ];
    for write in writes {
        for (end, state) in [("commit", Some("55000")), ("rollback", None)] {
            first.run("delete from crm.customers; select keyed.create_record('crm.customers', '{\"name\": \"a\"}', 'K')").await;
            let id = first.text("select id from crm.customers", &[]).await;
            let version = first.text("select keyed.record_version($1)", &[&id]).await;
            first.run("begin; update crm.customers set visits = 1").await;
            let waiting = Waiting::start(database.session().await, &observer, write, &[&version, &id]).await;
            first.run(end).await;
            let outcome = waiting.outcome().await.map_err(|error| error.state);
            assert_eq!(outcome.as_ref().err().map(String::as_str), state, "{write}, {end}");
        }
    }
}

#[tokio::test]
async fn create_only_caller_creates_after_a_concurrent_creation_failed() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let upsert =
        "select created from keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"x\"}', null, '*')";
    for end in ["commit", "rollback"] {
        first.run("delete from crm.customers").await;
        first.run("begin; select keyed.create_record('crm.customers', '{}', 'K')").await;
        let waiting = Waiting::start(database.session().await, &observer, upsert, &[]).await;
        first.run(end).await;
        match waiting.outcome().await {
            Ok(rows) => assert_eq!((end, first_row(&rows)[0].as_str()), ("rollback", "t")),
            Err(error) => assert_eq!((end, error.codes()), ("commit", ("55000", "precondition_failed"))),
        }
    }
}
