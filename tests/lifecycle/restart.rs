//! PostgreSQL goes away and comes back under the proxy; the proxy is asked to go.

use harness::{Cluster, Database, Durability, Service};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A service over a server of its own.
async fn alone(settings: &[(&str, &str)]) -> Service {
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    Service::over(database, settings).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgresql_is_away_callers_are_told_to_come_again_and_then_served() {
    let service = alone(&[("KEYED_POOL_SIZE", "4")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let cluster = Arc::clone(service.database.cluster());
    for _ in 0..2 {
        tokio::task::block_in_place(|| cluster.stop());
        for answer in [
            service.by_key("K").await,
            service.upsert("K", json!({"name": "Bea"})).await,
            service.get("/templates").await,
        ] {
            assert!(answer.header("retry-after").parse::<u32>().is_ok(), "{answer:?}");
            let body = answer.refused(503, "unavailable");
            assert_eq!(body["retryable"], true);
        }
        service.proxy.request("GET", "/healthz").send().await.expect(200);
        // Its answer holds for a second, so that nobody can make it a burden.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        service.proxy.request("GET", "/readyz").send().await.refused(503, "unavailable");

        tokio::task::block_in_place(|| cluster.start_again());
        let began = Instant::now();
        while service.by_key("K").await.status != 200 {
            assert!(began.elapsed() < Duration::from_secs(5), "the proxy did not find the server again");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for _ in 0..30 {
            service.upsert("K", json!({"visits": {"$inc": 1}})).await.expect(200);
            service.by_key("K").await.expect(200);
        }
        tokio::time::sleep(Duration::from_millis(1100)).await;
        service.proxy.request("GET", "/readyz").send().await.expect(200);
    }
    assert_eq!(service.by_key("K").await.expect(200)["attributes"]["visits"], 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_between_two_requests_goes_unnoticed() {
    let service = alone(&[("KEYED_POOL_SIZE", "4")]).await;
    service.upsert("K", json!({"name": "Ada"})).await.expect(201);
    let warm = (0..8).map(|_| tokio::spawn(service.proxy.request("GET", "/v1/templates").send()));
    for request in warm.collect::<Vec<_>>() {
        request.await.expect("the request ends").expect(200);
    }
    let tag = service.by_key("K").await.header("etag").to_owned();
    let cluster = Arc::clone(service.database.cluster());
    tokio::task::block_in_place(|| {
        cluster.stop();
        cluster.start_again();
    });
    for _ in 0..20 {
        let answer = service.by_key("K").await;
        assert_eq!(answer.header("etag"), tag, "a record that did not change keeps its tag");
        answer.expect(200);
    }
    service.upsert("K", json!({"name": "Bea"})).await.expect(200);
}

/// A database where writing a customer named `slow` takes a second.
async fn with_slow_writes(service: &Service) {
    service.session().await.run(
        "create function crm.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$;
         create trigger zz_slow before insert on crm.customers for each row when (new.name = 'slow') execute function crm.slow()",
    ).await;
}

#[tokio::test]
async fn asked_to_stop_the_proxy_finishes_what_it_has_begun_and_exits_with_0() {
    let service = Service::start().await;
    with_slow_writes(&service).await;
    let requests: Vec<_> = (0..4)
        .map(|number| {
            let body = json!({"external_key": format!("K-{number}"), "attributes": {"name": "slow"}});
            tokio::spawn(service.proxy.request("POST", "/v1/entities/template/customers").json(&body).send())
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    let Service { proxy, database } = service;
    let status = proxy.terminate().await;
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    for request in requests {
        request.await.expect("the request ends").expect(201);
    }
    assert_eq!(database.session().await.text("select count(*) from crm.customers", &[]).await, "4");
}

#[tokio::test]
async fn asked_to_stop_while_idle_the_proxy_exits_at_once() {
    let service = Service::start().await;
    service.get("/templates").await.expect(200);
    let began = Instant::now();
    let Service { proxy, database: _database } = service;
    assert_eq!(proxy.terminate().await.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2), "an idle connection held it up: {:?}", began.elapsed());
}
