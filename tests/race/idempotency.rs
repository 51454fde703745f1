//! Concurrent identical requests have one effect.

use harness::Service;
use harness::customers::{HISTORY, SERIES};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

const PATH: &str = "/v1/entities/template/customers/by-key";

#[tokio::test]
async fn eight_identical_requests_have_one_effect() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let (mut replayed, mut rejected_as_running) = (0, 0);
    for round in 0..40 {
        let mut requests = JoinSet::new();
        for _ in 0..8 {
            let body = json!({"external_key": "K", "attributes": {"visits": {"$inc": 1}, "mood": 1}});
            let request =
                service.proxy.request("PUT", PATH).header("idempotency-key", &format!("round-{round}"));
            requests.spawn(request.json(&body).send());
        }
        let responses = requests.join_all().await;
        let expected = if round == 0 { 201 } else { 200 };
        let first = responses
            .iter()
            .filter(|it| it.status == expected && it.header("idempotency-replayed").is_empty());
        assert_eq!(first.count(), 1, "exactly one is executed: {responses:?}");
        for response in &responses {
            match (response.status, response.header("idempotency-replayed")) {
                (409, _) => {
                    assert_eq!(response.body["code"], "request_in_progress");
                    rejected_as_running += 1;
                }
                (status, "true") if status == expected => replayed += 1,
                (status, "") if status == expected => {}
                _ => panic!("neither executed, replayed nor rejected as running: {response:?}"),
            }
        }
    }
    assert_eq!(replayed + rejected_as_running, 7 * 40);
    assert!(rejected_as_running > 0, "no two requests overlapped, so the test proves nothing");
    let record = service.by_key("K").await.expect(200);
    assert_eq!(record["attributes"]["visits"], 40);
    let session = service.session().await;
    let traces = &format!("select count(*) || ' ' || (select count(*) from {SERIES}) from {HISTORY}");
    assert_eq!(session.text(traces, &[]).await, "40 40");
}

#[tokio::test]
async fn disconnected_and_repeated_requests_have_one_effect() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "16"), ("KEYED_POOL_WAIT", "30")]).await;
    let mut clients = JoinSet::new();
    for client in 0..60_u64 {
        let request = |_| {
            let body =
                json!({"external_key": format!("K-{}", client % 7), "attributes": {"visits": {"$inc": 1}}});
            let request =
                service.proxy.request("PUT", PATH).header("idempotency-key", &format!("client-{client}"));
            request.json(&body).send()
        };
        let attempts: Vec<_> = (0..30).map(request).collect();
        clients.spawn(async move {
            for (number, attempt) in attempts.into_iter().enumerate() {
                let patience = if number < 4 {
                    Duration::from_micros(client * 7919 % 9_000)
                } else {
                    Duration::from_secs(30)
                };
                if let Ok(response) = tokio::time::timeout(patience, attempt).await
                    && response.status != 409
                {
                    assert!(response.status == 200 || response.status == 201, "{}", response.text);
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("client {client} never got a response");
        });
    }
    clients.join_all().await;
    let total = service.session().await.text("select sum(visits) from crm.customers", &[]).await;
    assert_eq!(total, "60");
}
