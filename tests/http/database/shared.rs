//! Lookups of many callers share a few database connections without affecting each other.

use harness::{Service, id_of};
use serde_json::json;

/// Two of eight connections are shared, and this address may try any number of invalid keys.
const POOL: [(&str, &str); 2] = [("KEYED_POOL_SIZE", "8"), ("KEYED_AUTH_FAILURES", "0")];

async fn with_records(count: usize) -> Service {
    let service = Service::start_with(&POOL).await;
    for number in 0..count {
        service.upsert(&format!("K-{number}"), json!({"visits": number})).await.expect(201);
    }
    service
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_lookups_get_their_own_responses() {
    let service = with_records(50).await;
    for _ in 0..5 {
        let lookups = (0..300).map(|number| {
            let path = "/v1/entities/template/customers/by-key?key=K-";
            let request = match number % 3 {
                // Requests that are rejected are in between.
                0 => service.proxy.request("GET", &format!("{path}{number}")).key("keyed_1_wrong"),
                _ => service.proxy.request("GET", &format!("{path}{number}")),
            };
            (number, tokio::spawn(request.send()))
        });
        for (number, lookup) in lookups.collect::<Vec<_>>() {
            let response = lookup.await.expect("the request ends");
            match (number % 3, number < 50) {
                (0, _) => drop(response.expect_error(401, "unauthorized")),
                (_, true) => assert_eq!(response.expect(200)["attributes"]["visits"], number),
                (_, false) => drop(response.expect_error(404, "not_found")),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_lookup_does_not_block_others() {
    // A statement may wait for a lock for half of its timeout, which is longer here than any wait of the tests.
    let timeouts = [("KEYED_REQUEST_TIMEOUT", "600"), ("KEYED_STATEMENT_TIMEOUT", "500")];
    let service = Service::start_with(&[&POOL[..], &timeouts].concat()).await;
    service.upsert("K-1", json!({"visits": 1})).await.expect(201);
    let company = service
        .post("/entities/template/companies", json!({"attributes": {"name": "Ada & Co"}}))
        .await
        .expect(201);
    let path = format!("/v1/entities/{}", id_of(&company));
    for _ in 0..20 {
        service.by_key("K-1").await.expect(200);
    }
    let (session, observer) = (service.session().await, service.session().await);
    // On a slow machine, a lookup may have been hedged, and its shared connection is not used until it responds.
    let busy = "select count(*) from pg_stat_activity
                where usename = 'keyed_proxy' and datname = current_database() and state <> 'idle'";
    observer.until(busy, "0").await;
    session.run("begin; lock table crm.customers in access exclusive mode").await;
    let request = service.proxy.request("GET", "/v1/entities/template/customers/by-key?key=K-1");
    let waiting = tokio::spawn(request.send());
    // On the shared connection, and on its own connection.
    observer.until_blocked(2).await;
    for _ in 0..20 {
        service.proxy.request("GET", &path).send().await.expect(200);
    }
    assert!(!waiting.is_finished(), "others waited for it");
    session.run("commit").await;
    waiting.await.expect("the request ends").expect(200);
    for _ in 0..20 {
        service.by_key("K-1").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lookups_survive_the_loss_of_their_connection() {
    let service = with_records(1).await;
    let session = service.session().await;
    for _ in 0..5 {
        for _ in 0..10 {
            service.by_key("K-0").await.expect(200);
        }
        session
            .run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database()")
            .await;
    }
    service.by_key("K-0").await.expect(200);
}
