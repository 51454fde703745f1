//! Callers that disconnect leave nothing behind.

use harness::Service;
use harness::customers::{HISTORY, SERIES};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

/// The activity of the proxy's sessions, except idle ones.
const BUSY: &str =
    "select coalesce(string_agg(state || ': ' || left(query, 80), ', '), '') from pg_stat_activity
                    where usename = 'keyed_proxy' and datname = current_database() and state <> 'idle'";

#[tokio::test]
async fn disconnects_leave_no_transaction_or_partial_write() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "3"), ("KEYED_POOL_WAIT", "10")]).await;
    let mut requests = JoinSet::new();
    for number in 0..400_u64 {
        let body = json!({"external_key": format!("K-{}", number % 5), "attributes": {"visits": {"$inc": 1}, "mood": 1}});
        let request = service.proxy.request("PUT", "/v1/entities/template/customers/by-key").json(&body);
        requests.spawn(async move {
            // Some disconnect immediately, some during the request, some when the response arrives.
            tokio::time::sleep(Duration::from_millis(number / 2)).await;
            let patience =
                Duration::from_micros(number * 7919 % [3_000, 40_000, 3_000_000][number as usize % 3]);
            tokio::time::timeout(patience, request.send()).await.is_ok_and(|response| response.status < 300)
        });
    }
    let acknowledged = requests.join_all().await.into_iter().filter(|answered| *answered).count();
    assert!(
        (5..395).contains(&acknowledged),
        "{acknowledged} of 400 were acknowledged, so the test proves nothing"
    );
    let session = service.session().await;
    session.until(BUSY, "").await;
    let written: usize =
        session.text("select sum(visits) from crm.customers", &[]).await.parse().expect("a number");
    assert!((acknowledged..=400).contains(&written), "{acknowledged} were acknowledged, {written} exist");
    let torn = &format!(
        "select count(*) from crm.customers c
                where c.visits <> (select count(*) from {SERIES} m where m.record_id = c.id)
                or c.visits <> (select count(*) from {HISTORY} h where h.record_id = c.id)"
    );
    assert_eq!(session.text(torn, &[]).await, "0");
    for number in 0..20 {
        service.upsert(&format!("after {number}"), json!({})).await.expect(201);
    }
    assert_eq!(session.text("select count(*) from pg_stat_activity where usename = 'keyed_proxy' and xact_start is not null and datname = current_database()", &[]).await, "0");
}

#[tokio::test]
async fn statement_of_a_disconnected_caller_is_canceled() {
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "2")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let session = service.session().await;
    session.run("begin; update crm.customers set name = 'Bea'").await;
    let observer = service.session().await;
    for _ in 0..2 {
        let body = json!({"external_key": "K", "attributes": {"name": "Cleo"}});
        let request = service.proxy.request("PUT", "/v1/entities/template/customers/by-key").json(&body);
        let waiting = tokio::spawn(request.send());
        observer.until_blocked(1).await;
        waiting.abort();
        observer.until_blocked(0).await;
    }
    observer.until(BUSY, "").await;
    service.by_key("K").await.expect(200);
    session.run("commit").await;
    assert_eq!(service.by_key("K").await.expect(200)["attributes"]["name"], "Bea");
}
